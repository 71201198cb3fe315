// SPDX-License-Identifier: MIT
/*
 * dup: the system call that chen95 measures (section 4.2, figure 2). chen95 uses this call because
 * no system can cache or batch it. Phase 0 brackets dup() alone. After the bracket, the program
 * calls close(), so that the descriptor table does not become full.
 */
#include <unistd.h>

#include "p5w.h"

static void iteration(void) {
  p5_begin(0);
  int copy = dup(STDOUT_FILENO);
  p5_end(0);
  if (copy < 0) p5w_fail("dup");
  close(copy);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
