// SPDX-License-Identifier: MIT
/*
 * exec-static: start a trivial statically linked program in a new process and wait for its end
 * (chen95 section 4.3, figure 3, the NetBSD variant: vfork and exec). Phase 0 brackets one start
 * and wait.
 */
#include "child.h"

static const char *program;

static void iteration(void) {
  char *const arguments[] = {(char *)program, NULL};
  char *const environment[] = {NULL};
  p5_begin(0);
  pid_t child = vfork();
  if (child == 0) {
    execve(program, arguments, environment);
    _exit(127);
  }
  child_wait(child);
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 2;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  program = child_path(argv[0]);

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
