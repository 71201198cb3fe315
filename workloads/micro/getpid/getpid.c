// SPDX-License-Identifier: MIT
/*
 * getpid: the smallest system call of most kernels (ousterhout90, lai96 table 2). Phase 0 brackets
 * one call. The raw system call is used, so that no C library can return a cached value.
 */
#include <sys/syscall.h>
#include <unistd.h>

#include "p5w.h"

static void iteration(void) {
  p5_begin(0);
  syscall(SYS_getpid);
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
