/* SPDX-License-Identifier: MIT */
/*
 * exec: start a trivial program and wait for its end (chen95 section 4.3, figure 3: CreateProcess).
 * Phase 0 brackets one start and wait.
 */
#include "process.h"

static char path[LONGEST_PATH + sizeof("child.exe")];

static void iteration(void) {
  p5_begin(0);
  process_wait(process_start(path, NULL, NULL, NULL));
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 2;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  uint32_t length = GetModuleFileNameA(NULL, path, LONGEST_PATH);
  while (length && path[length - 1] != '\\') length--;
  memcpy(path + length, "child.exe", sizeof("child.exe"));

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
