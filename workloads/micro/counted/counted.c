// SPDX-License-Identifier: MIT
/*
 * counted: operations measured with chen95's method (sections 3.2 and 4.1). The program uses the
 * two counters through /dev/p5ctr, with one system call to start and one to stop. The ten events of
 * the paper's table 2 take five passes, and each pass repeats the operation. There is no warm-up,
 * because the paper mentions none. operation=null contains no operation. The paper subtracts the
 * counts of this null operation from the counts of the other operations.
 *
 * The output has one line for each iteration: PASS ITERATION CTR0 CTR1 CYCLES. CYCLES is the time
 * that RDTSC measures, from before the start until the stop. Phase 0 brackets only the operation,
 * between start and stop. Phase 1 brackets the code that CYCLES measures. In events.jsonl, the
 * brackets of a pass follow the brackets of the previous pass.
 *
 * With counters=unused the program does not call the device and prints nothing. It runs the
 * operations undisturbed.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"
#include "exec.h"

enum { PASSES = 5, COUNTERS = 2, ITERATIONS_MAX = 1000 };

/* Two events per pass, in the order of chen95's table 2. The paper does not print the pairs.
 */
static const long events[PASSES][COUNTERS] = {
    {0x00, 0x01}, /* data reads, data writes */
    {0x02, 0x03}, /* data TLB misses, data read misses */
    {0x04, 0x0D}, /* data write misses, code TLB misses */
    {0x0E, 0x0F}, /* code misses, segment register loads */
    {0x16, 0x27}  /* instructions, hardware interrupts */
};

static struct sample {
  uint64_t counter[COUNTERS], cycles;
} samples[PASSES][ITERATIONS_MAX];

static int ends[2], copy;
static char memory[64] __attribute__((aligned(32)));

static void op_null(void) {}

static void op_getpid(void) { syscall(SYS_getpid); }

static void op_dup(void) { copy = dup(STDOUT_FILENO); }

/* Send one byte to this process itself (lai96 section 5). */
static void op_pipe(void) {
  char byte = 0;
  if (write(ends[1], &byte, 1) != 1 || read(ends[0], &byte, 1) != 1) p5w_fail("counted: pipe");
}

static void op_exec(void) { exec_once(); }

/* Table 2 has these rules for its events: a misaligned read counts twice, a misaligned write once,
 * and a REP instruction once.
 */
static void op_load(void) { __asm__ volatile("movl %0, %%eax" : : "m"(memory[3]) : "eax"); }

static void op_store(void) { __asm__ volatile("movl %%eax, %0" : "=m"(memory[3])); }

static void op_rep(void) {
  void *to = memory;
  long words = sizeof(memory) / 4;
  __asm__ volatile("rep stosl" : "+D"(to), "+c"(words) : "a"(0) : "memory");
}

static const char *const names[] = {"null", "getpid", "dup", "pipe", "exec", "misaligned-load",
                                    "misaligned-store", "rep-stos", NULL};
static void (*const operations[])(void) = {op_null, op_getpid, op_dup,   op_pipe,
                                           op_exec, op_load,   op_store, op_rep};
enum counters { USED, UNUSED };
static const char *const counters[] = {"used", "unused", NULL};

static uint64_t rdtsc(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

static void bracket(void (*operation)(void)) {
  p5_begin(0);
  operation();
  p5_end(0);
}

static struct sample count(int device, void (*operation)(void)) {
  p5_begin(1);
  uint64_t before = rdtsc();
  counters_start(device);
  bracket(operation);
  struct p5ctr_counts counts = counters_stop(device);
  p5_end(1);
  return (struct sample){{counts.ctr0, counts.ctr1}, counts.tsc - before};
}

int main(int argc, char **argv) {
  long iterations = 50, chosen = 0, use = USED;
  const struct p5w_option options[] = {
      {"iterations", "iterations a pass, at most 1000", &iterations, 1, NULL},
      {"operation", "what is measured", &chosen, 0, names},
      {"counters", "used or unused", &use, 0, counters},
      {0}};
  p5w_start(argc, argv, options);
  if (iterations > ITERATIONS_MAX) {
    fprintf(stderr, "%s: iterations=%ld: at most %d\n", argv[0], iterations, ITERATIONS_MAX);
    return P5W_EXIT_USAGE;
  }
  void (*operation)(void) = operations[chosen];
  if (operation == op_exec) exec_program = child_path(argv[0], CHILD_NAME);
  if (pipe(ends) != 0) p5w_fail("counted: pipe");
  int device = use == USED ? counters_open() : -1;

  for (int pass = 0; pass < PASSES; pass++) {
    if (use == USED) counters_config(device, events[pass][0], events[pass][1]);
    for (long i = 0; i < iterations; i++) {
      if (use == USED)
        samples[pass][i] = count(device, operation);
      else
        bracket(operation);
      if (operation == op_dup) close(copy);
    }
  }

  for (int pass = 0; use == USED && pass < PASSES; pass++)
    for (long i = 0; i < iterations; i++) {
      const struct sample *sample = &samples[pass][i];
      printf("%d %ld %llu %llu %llu\n", pass, i, (unsigned long long)sample->counter[0],
             (unsigned long long)sample->counter[1], (unsigned long long)sample->cycles);
    }
  return 0;
}
