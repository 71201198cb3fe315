// SPDX-License-Identifier: MIT
/*
 * cswitch: two processes pass one byte back and forth over two pipes (ousterhout90 table 3, lai96
 * figure 1 with two processes). Phase 0 brackets one round trip: a read and a write in each
 * process, and two context switches.
 */
#include "child.h"

static int request[2], reply[2];

static void iteration(void) {
  char byte = 0;
  p5_begin(0);
  int failed = write(request[1], &byte, 1) != 1 || read(reply[0], &byte, 1) != 1;
  p5_end(0);
  if (failed) p5w_fail("pipe");
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  if (pipe(request) != 0 || pipe(reply) != 0) p5w_fail("pipe");

  pid_t child = fork();
  if (child == 0) {
    char byte;
    close(request[1]);
    while (read(request[0], &byte, 1) == 1)
      if (write(reply[1], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  p5w_repeat(iteration, warmup, iterations);
  close(request[1]); /* the child reads the end of file */
  child_wait(child);
  return 0;
}
