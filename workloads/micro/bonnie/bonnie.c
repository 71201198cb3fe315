// SPDX-License-Identifier: MIT
/*
 * bonnie: write one file, read it in sequence, then read and write random blocks of 8 KB of it
 * (lai96 section 7.1, figures 9 to 11: files of 2 to 100 MB on a machine with 32 MB).
 *
 * Every bracket contains `batch` blocks. Phase 0 writes the blocks in sequence, and phase 1 reads
 * the blocks in sequence. Phase 2 reads random blocks and writes each block back to its place. The
 * mean over a phase's brackets is the mean of the whole file. Dirty blocks of phases 0 and 2 are
 * written to the disk between the brackets, so that no bracket contains the writes of an earlier
 * phase. The program does not empty the file cache, so a file that fits in the cache is read from
 * the cache, as in lai96. The order of the random blocks is the same in every run.
 */
#include "transfer.h"

#define BLOCK 8192

enum phase { WRITE, READ, SEEK };

static const char directory[] = "p5lab-bonnie";
static long kb = 2048, batch = 64, seeks = 64, filesystem = DATA_DISK;
static struct transfer file;

/* A multiplicative congruential generator of 32 bits (Lehmer; Park and Miller's constants). */
static uint32_t next_random(void) {
  static uint32_t state = 1;
  return state = (uint32_t)((uint64_t)state * 48271u % 2147483647u);
}

static void sequential(int descriptor, enum phase phase, long blocks) {
  for (long i = 0; i < blocks; i++) {
    if (i % batch == 0) p5_begin(phase);
    if (phase == WRITE) {
      data_mark(file.buffer, BLOCK, i * BLOCK, file.key);
      data_write(descriptor, file.buffer, BLOCK, file.name);
    } else {
      data_read(descriptor, file.buffer, BLOCK, file.name);
      data_check_marks(file.buffer, BLOCK, i * BLOCK, file.key, file.name);
    }
    if ((i + 1) % batch == 0) p5_end(phase);
  }
}

/* Change the block. The block gets the contents of another file (key), or its old contents again.
 */
static void random_blocks(int descriptor, long blocks) {
  unsigned char *changed = calloc((size_t)blocks, 1);
  if (!changed) p5w_fail("blocks");
  for (long i = 0; i < seeks; i++) {
    if (i % batch == 0) p5_begin(SEEK);
    long block = (long)(next_random() % (uint32_t)blocks);
    if (lseek(descriptor, (off_t)block * BLOCK, SEEK_SET) < 0) p5w_fail(file.name);
    data_read(descriptor, file.buffer, BLOCK, file.name);
    data_check_marks(file.buffer, BLOCK, block * BLOCK, changed[block], file.name);
    changed[block] ^= 1;
    data_mark(file.buffer, BLOCK, block * BLOCK, changed[block]);
    if (lseek(descriptor, -BLOCK, SEEK_CUR) < 0) p5w_fail(file.name);
    data_write(descriptor, file.buffer, BLOCK, file.name);
    if ((i + 1) % batch == 0) p5_end(SEEK);
  }
  data_sync();
  for (long block = 0; block < blocks; block++) {
    if (!changed[block]) continue;
    if (lseek(descriptor, (off_t)block * BLOCK, SEEK_SET) < 0) p5w_fail(file.name);
    data_read(descriptor, file.buffer, BLOCK, file.name);
    data_check_marks(file.buffer, BLOCK, block * BLOCK, changed[block], file.name);
  }
  free(changed);
}

int main(int argc, char **argv) {
  const struct p5w_option options[] = {
      {"kb", "size of the file in KB", &kb, 8, NULL},
      {"batch", "blocks of 8 KB in a bracket", &batch, 1, NULL},
      {"seeks", "random blocks, 0: none", &seeks, 0, NULL},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  long blocks = kb / (BLOCK >> 10);
  if (kb % (BLOCK >> 10) != 0 || blocks % batch != 0 || seeks % batch != 0) {
    fprintf(stderr, "%s: kb and seeks must be multiples of a batch\n", argv[0]);
    return P5W_EXIT_USAGE;
  }
  file = transfer_new(kb, BLOCK, "file");
  data_mount(filesystem);
  data_enter(directory);

  int descriptor = transfer_open(&file, O_RDWR | O_CREAT | O_TRUNC);
  transfer_fill(&file);
  data_drop_caches();
  sequential(descriptor, WRITE, blocks);
  data_sync();
  transfer_seek(&file, descriptor);
  sequential(descriptor, READ, blocks);
  if (seeks > 0) random_blocks(descriptor, blocks);
  if (close(descriptor) != 0 || unlink(file.name) != 0) p5w_fail(file.name);
  data_leave(directory);
  return 0;
}
