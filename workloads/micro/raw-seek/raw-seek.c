// SPDX-License-Identifier: MIT
/*
 * raw-seek: blocks at random places of a disk, without the file cache (lai96 section 7.1: 14 ms for
 * each of bonnie's blocks of 8 KB, on all systems). Phase 0 brackets `batch` blocks. The blocks lie
 * behind the partitions of the first modelled disk. If reads are measured, the program writes the
 * blocks first. If writes are measured, it reads the blocks back.
 */
#include "data.h"

enum mode { READ, WRITE };
static const char *const modes[] = {"read", "write", NULL};
static long batch = 64, bytes = 8192, span = 200, start = 1024;

/* Read or write all blocks in the order of the generator (Numerical Recipes, ranqd1). If `count` is
 * set, each batch is in a bracket.
 */
static void pass(int disk, const char *path, char *buffer, long batches, int write, int count) {
  const uint32_t blocks = (uint32_t)(((uint64_t)span << 20) / (uint64_t)bytes);
  uint32_t random = 1;
  for (long i = 0; i < batches; i++) {
    if (count) p5_begin(0);
    for (long j = 0; j < batch; j++) {
      random = random * 1664525u + 1013904223u;
      const long block = (long)((random >> 8) % blocks);
      const off_t at = ((off_t)start << 20) + (off_t)block * bytes;
      if (lseek(disk, at, SEEK_SET) < 0) p5w_fail(path);
      if (write) {
        data_mark(buffer, bytes, block * bytes, 1);
        data_write(disk, buffer, bytes, path);
      } else {
        data_read(disk, buffer, bytes, path);
        data_check_marks(buffer, bytes, block * bytes, 1, path);
      }
    }
    if (count) p5_end(0);
  }
}

int main(int argc, char **argv) {
  long iterations = 4, mode = READ;
  const struct p5w_option options[] = {
      {"iterations", "measured batches", &iterations, 1, NULL},
      {"batch", "blocks of a batch", &batch, 1, NULL},
      {"bytes", "of a block, a multiple of 512", &bytes, DATA_SECTOR, NULL},
      {"span", "MB that they are in", &span, 1, NULL},
      {"start", "MB in front of these, 512 or more", &start, 512, NULL},
      {"mode", "read or write", &mode, 0, modes},
      {0}};
  p5w_start(argc, argv, options);
  if (bytes % DATA_SECTOR != 0 || bytes > span << 20) {
    fprintf(stderr, "%s: bytes must be a multiple of 512 and fit into span\n", argv[0]);
    return P5W_EXIT_USAGE;
  }
  const char *path = data_disk(0);
  if (!path) data_unavailable("raw-seek", "needs a modelled disk, and this machine has none");
  int disk = data_open_raw(path);
  char *buffer = data_buffer(bytes);
  data_fill(buffer, bytes, 0, 1);
  pass(disk, path, buffer, iterations, 1, mode == WRITE);
  pass(disk, path, buffer, iterations, 0, mode == READ);
  return 0;
}
