/* SPDX-License-Identifier: MIT */
/*
 * pipe: one process writes and another reads, each 64 KB per call (lai96 table 4: lmbench's
 * bw_pipe). Phase 0 brackets the reading of `iterations` chunks. The writer is this program, started
 * again. It writes until the reader closes the pipe.
 */
#include "process.h"

#define CHUNK 65536

static char buffer[CHUNK];

static int write_chunks(void) {
  int to = (int)GetStdHandle(STANDARD_OUTPUT);
  while (write(to, buffer, CHUNK) == CHUNK) {
  }
  return 0;
}

static void read_chunk(handle from) {
  for (long left = CHUNK; left > 0;) {
    ssize_t count = read((int)from, buffer, (size_t)left);
    if (count <= 0) p5w_fail("pipe: read");
    left -= count;
  }
}

int main(int argc, char **argv) {
  if (process_is_child(argc, argv)) return write_chunks();
  long iterations = 16, warmup = 2;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  struct pipe pipe = pipe_new();
  handle child = process_start_child(NULL, pipe.write);

  for (long i = 0; i < warmup; i++) read_chunk(pipe.read);
  p5_begin(0);
  for (long i = 0; i < iterations; i++) read_chunk(pipe.read);
  p5_end(0);
  CloseHandle(pipe.read);
  process_wait(child);
  return 0;
}
