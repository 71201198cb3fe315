// SPDX-License-Identifier: MIT
/*
 * pipe-bandwidth: a child writes and its parent reads, each 64 KB per call (lai96 section 9.1:
 * lmbench's bw_pipe, 50 MB). Phase 0 brackets the reading of `megabytes` MB. The writer is always
 * ahead of the reader by the bytes in the pipe.
 */
#include "child.h"
#include "stream.h"

#define CHUNK 65536
#define CHUNKS_PER_MB (1048576 / CHUNK)

static unsigned char chunk[CHUNK];

int main(int argc, char **argv) {
  long megabytes = 4, warmup = 2;
  const struct p5w_option options[] = {
      {"megabytes", "measured MB", &megabytes, 1, NULL},
      {"warmup", "chunks of 64 KB before the first measured one", &warmup, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  int ends[2];
  if (pipe(ends) != 0) p5w_fail("pipe");

  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    stream_send("pipe", ends[1], chunk, CHUNK, warmup + megabytes * CHUNKS_PER_MB);
    _exit(0);
  }
  close(ends[1]);
  stream_receive("pipe", ends[0], chunk, CHUNK, warmup, megabytes * CHUNKS_PER_MB);
  child_wait(child);
  return 0;
}
