/* SPDX-License-Identifier: MIT */
/*
 * cswitch: two processes pass one byte back and forth over two pipes (ousterhout90 table 3, lai96
 * figure 1 with two processes). Phase 0 brackets one round trip: a read and a write in each process,
 * and two context switches. The other process is this program, started again.
 */
#include "process.h"

static struct pipe request, reply;

static int answer(void) {
  int from = (int)GetStdHandle(STANDARD_INPUT), to = (int)GetStdHandle(STANDARD_OUTPUT);
  char byte;
  while (read(from, &byte, 1) == 1)
    if (write(to, &byte, 1) != 1) return 1;
  return 0;
}

static void iteration(void) {
  char byte = 0;
  p5_begin(0);
  int failed = write((int)request.write, &byte, 1) != 1 || read((int)reply.read, &byte, 1) != 1;
  p5_end(0);
  if (failed) p5w_fail("pipe");
}

int main(int argc, char **argv) {
  if (process_is_child(argc, argv)) return answer();
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  request = pipe_new(), reply = pipe_new();
  handle child = process_start_child(request.read, reply.write);

  p5w_repeat(iteration, warmup, iterations);
  CloseHandle(request.write); /* the child reads the end of file */
  process_wait(child);
  return 0;
}
