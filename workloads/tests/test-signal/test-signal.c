// SPDX-License-Identifier: MIT
/* test-signal: a program's registers survive a signal that it handles. */
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define ROUNDS 100

static volatile sig_atomic_t caught;
static sigjmp_buf back;
static volatile int *volatile nowhere = (volatile int *)(uintptr_t)16;

static void use_registers(int number) {
  (void)number;
  caught++;
  __asm__ volatile("fninit\n\tfldz\n\tfldz\n\tfldpi" : : : "memory");
  __asm__ volatile("fninit");
}

static void leave(int number) {
  (void)number;
  caught++;
  siglongjmp(back, 1);
}

/* kill(EBX, ECX), or kill(EDI, ESI), in one instruction: no other instruction may change the
 * registers.
 */
#ifdef __x86_64__
#define KILL "mov $62, %%eax\n\tsyscall\n\t"
#define PROCESS "D"
#define SIGNAL "S"
#define LOST "rax", "rcx", "r11"
#else
#define KILL "mov $37, %%eax\n\tint $0x80\n\t"
#define PROCESS "b"
#define SIGNAL "c"
#define LOST "eax"
#endif

/* Raise a signal while the x87 stack holds pi and log2(10). Returns whether the values are kept. */
static int keeps_x87(void) {
  double pi, log, wanted_pi, wanted_log;
  pid_t self = getpid();
  __asm__ volatile("fldpi\n\tfstpl %0\n\tfldl2t\n\tfstpl %1" : "=m"(wanted_pi), "=m"(wanted_log));
  __asm__ volatile(
      "fninit\n\tfldpi\n\tfldl2t\n\t" KILL "fstpl %1\n\tfstpl %0"
      : "=m"(pi), "=m"(log)
      : PROCESS(self), SIGNAL(SIGUSR1)
      : LOST, "memory");
  return memcmp(&pi, &wanted_pi, sizeof(pi)) == 0 && memcmp(&log, &wanted_log, sizeof(log)) == 0;
}

int main(void) {
  volatile int wrong = 0; /* volatile, because siglongjmp() does not restore it */
  signal(SIGUSR1, use_registers);
  for (int i = 0; i < ROUNDS; i++) wrong = wrong + !keeps_x87();
  signal(SIGSEGV, leave);
  for (volatile int i = 0; i < ROUNDS; i++)
    if (sigsetjmp(back, 1) == 0) *nowhere = 1;
  printf("%d signals, %d with other registers\n", (int)caught, wrong);
  return caught == 2 * ROUNDS && wrong == 0 ? 0 : 1;
}
