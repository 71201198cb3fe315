// SPDX-License-Identifier: MIT
/*
 * exec-static: start a trivial statically linked program in a new process and wait for its end
 * (chen95 section 4.3, figure 3, the NetBSD variant: vfork and exec). Phase 0 brackets one start
 * and wait.
 */
#include "exec.h"

int main(int argc, char **argv) {
  long iterations = 50, warmup = 2;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  exec_program = child_path(argv[0], CHILD_NAME);

  p5w_repeat(exec_iteration, warmup, iterations);
  return 0;
}
