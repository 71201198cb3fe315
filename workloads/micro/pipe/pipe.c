// SPDX-License-Identifier: MIT
/*
 * pipe: one process writes and another reads, each 64 KB per call (lai96 table 4: lmbench's
 * bw_pipe). Phase 0 brackets the reading of `iterations` chunks. The writer is always ahead of the
 * reader by the bytes in the pipe.
 */
#include "child.h"

#define CHUNK 65536

static char buffer[CHUNK];

static void read_chunk(int from) {
  for (long left = CHUNK; left > 0;) {
    ssize_t count = read(from, buffer, (size_t)left);
    if (count <= 0) p5w_fail("pipe: read");
    left -= count;
  }
}

int main(int argc, char **argv) {
  long iterations = 16, warmup = 2;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  int ends[2];
  if (pipe(ends) != 0) p5w_fail("pipe");

  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    for (long i = 0; i < warmup + iterations; i++)
      if (write(ends[1], buffer, CHUNK) != CHUNK) _exit(1);
    _exit(0);
  }
  for (long i = 0; i < warmup; i++) read_chunk(ends[0]);
  p5_begin(0);
  for (long i = 0; i < iterations; i++) read_chunk(ends[0]);
  p5_end(0);
  child_wait(child);
  return 0;
}
