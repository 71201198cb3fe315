// SPDX-License-Identifier: MIT
/*
 * file-read: repeatedly read a file that is in the file cache, 16 KB per call into one buffer
 * (ousterhout90 table 6). Phase 0 brackets the reading of all `blocks` blocks. The file is larger
 * than the hardware caches, so that its data come from memory. The buffer may be in the caches.
 */
#include "data.h"

#define BLOCK (16 << 10)
#define KEY 1

static const char directory[] = "p5lab-file-read", name[] = "file";
static char buffer[BLOCK];
static int file;
static long blocks = 64;

static void create(void) {
  file = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (file < 0) p5w_fail(name);
  for (long i = 0; i < blocks; i++) {
    data_fill(buffer, BLOCK, i * BLOCK, KEY);
    data_write(file, buffer, BLOCK, name);
  }
  data_sync(); /* a later write to the disk would disturb the measurement */
}

static void check(void) {
  if (lseek(file, 0, SEEK_SET) != 0) p5w_fail(name);
  for (long i = 0; i < blocks; i++) {
    data_read(file, buffer, BLOCK, name);
    data_check(buffer, BLOCK, i * BLOCK, KEY, name);
  }
}

/* Check one mark of each block within the bracket, and the whole last block after the bracket. */
static void iteration(void) {
  memset(buffer, 0, BLOCK);
  if (lseek(file, 0, SEEK_SET) != 0) p5w_fail(name);
  p5_begin(0);
  for (long i = 0; i < blocks; i++) {
    data_read(file, buffer, BLOCK, name);
    data_check_marks(buffer, sizeof(uint32_t), i * BLOCK, KEY, name);
  }
  p5_end(0);
  data_check(buffer, BLOCK, (blocks - 1) * BLOCK, KEY, name);
}

int main(int argc, char **argv) {
  long iterations = 3, warmup = 1, filesystem = DATA_DISK;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup),
                                       {"blocks", "blocks of 16 KB in the file", &blocks, 1, NULL},
                                       DATA_FILESYSTEM(filesystem),
                                       {0}};
  p5w_start(argc, argv, options);
  data_mount(filesystem);
  data_enter(directory);
  create();

  p5w_repeat(iteration, warmup, iterations);
  check();
  if (close(file) != 0 || unlink(name) != 0) p5w_fail(name);
  data_leave(directory);
  return 0;
}
