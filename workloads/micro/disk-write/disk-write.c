// SPDX-License-Identifier: MIT
/*
 * disk-write: write a long file in sequence (talagala97 section 6.1, table 2: requests of 64 KB
 * through the file system). Phase 0 brackets the writing of a new file and the fsync() that waits
 * until all data of the file are on the disk. The program reads the file back outside of the
 * bracket.
 */
#include "transfer.h"

static const char directory[] = "p5lab-disk-write";
static struct transfer file;

static void iteration(void) {
  int descriptor = transfer_open(&file, O_RDWR | O_CREAT | O_EXCL);
  transfer_fill(&file);
  data_drop_caches();
  p5_begin(0);
  transfer_write(&file, descriptor);
  if (fsync(descriptor) != 0) p5w_fail(file.name);
  p5_end(0);
  data_drop_caches();
  transfer_seek(&file, descriptor);
  transfer_check(&file, descriptor);
  if (close(descriptor) != 0 || unlink(file.name) != 0) p5w_fail(file.name);
}

int main(int argc, char **argv) {
  long iterations = 1, warmup = 1, kb = 2048, request = 65536, filesystem = DATA_DISK;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"kb", "size of the file in KB", &kb, 1, NULL},
      {"request", "bytes of a write, a multiple of 512", &request, DATA_SECTOR, NULL},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  file = transfer_new(kb, request, "file");
  data_mount(filesystem);
  data_enter(directory);

  p5w_repeat(iteration, warmup, iterations);
  data_leave(directory);
  return 0;
}
