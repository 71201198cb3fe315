// SPDX-License-Identifier: MIT
/*
 * A host program that takes the place of gem5. It calls every function of marker.h. A handler
 * receives the invalid-opcode signals, and handles the instructions in the same way as gem5. Prints
 * the request of each call, or `none` if there was no invalid instruction.
 *
 * The argument is the file that gem5 would give to the guest.
 */
#define _GNU_SOURCE /* names of the registers */
#include <signal.h>
#include <stdio.h>
#include <ucontext.h>

#include "marker.h"

static const char *file;
static char output[256];
static int calls;

static void play(int number, siginfo_t *info, void *context) {
  (void)number, (void)info;
  greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
  const unsigned char *at = (const unsigned char *)registers[REG_RIP];
  if (at[0] != 0x0F || at[1] != 0x04) _Exit(99);
  unsigned operation = at[2] | at[3] << 8;
  size_t first = (size_t)registers[REG_RDI], second = (size_t)registers[REG_RSI];
  size_t offset = (size_t)registers[REG_RDX], length = strlen(file);
  calls++;
  registers[REG_RIP] += 4;
  registers[REG_RAX] = 0;
  if (operation == M5_READ_FILE) {
    size_t left = offset < length ? length - offset : 0;
    registers[REG_RAX] = (greg_t)(left < second ? left : second);
    memcpy((char *)first, file + offset, (size_t)registers[REG_RAX]);
  } else if (operation == M5_WRITE_FILE) {
    printf("write %zu at %zu to %s\n", second, offset, (const char *)registers[REG_RCX]);
    memcpy(output + offset, (const char *)first, second);
    registers[REG_RAX] = (greg_t)second;
  } else {
    printf("%#x %#zx %#zx\n", operation, first, second);
  }
}

int main(int argc, char **argv) {
  file = argc > 1 ? argv[1] : "";
  struct sigaction action = {.sa_sigaction = play, .sa_flags = SA_SIGINFO};
  sigaction(SIGILL, &action, NULL);

  printf("markers %d\n", p5_marker_init());
  p5_ready();
  p5_begin(7);
  p5_end(0xFFFFFFFFu);
  p5_exit(0);
  p5_exit(3);
  p5_abort(5);
  printf("counter %llu\n", (unsigned long long)p5_read_counter(1));

  char job[16], program[64] = "", bytes[12];
  size_t length = p5_job(job, sizeof(job));
  printf("job %zu `%s`\n", length, job);
  size_t used = 0, count;
  while ((count = p5_program((uint32_t)used, bytes)) > 0) {
    memcpy(program + used, bytes, count);
    used += count;
  }
  printf("program %zu `%s`\n", used, program);

  p5_output(1, "one\n", 4);
  p5_output(2, "", 0);
  p5_output(2, "two\n", 4);
  printf("output `%s`\n", output);
  if (calls == 0) puts("none");
  return 0;
}
