// SPDX-License-Identifier: MIT
/*
 * disk-read: read a long file in sequence (talagala97 section 6.1, table 2: requests of 64 KB
 * through the file system; section 6.2: the same on a stripe). Phase 0 brackets the reading of the
 * file. The program empties the file cache before the bracket.
 */
#include "transfer.h"

static const char directory[] = "p5lab-disk-read";
static struct transfer file;

static void iteration(void) {
  data_drop_caches();
  int descriptor = transfer_open(&file, O_RDONLY);
  p5_begin(0);
  transfer_read(&file, descriptor);
  p5_end(0);
  close(descriptor);
}

int main(int argc, char **argv) {
  long iterations = 1, warmup = 1, kb = 2048, request = 65536, filesystem = DATA_DISK;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"kb", "size of the file in KB", &kb, 1, NULL},
      {"request", "bytes of a read, a multiple of 512", &request, DATA_SECTOR, NULL},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  file = transfer_new(kb, request, "file");
  data_mount(filesystem);
  data_enter(directory);
  int descriptor = transfer_open(&file, O_WRONLY | O_CREAT | O_TRUNC);
  transfer_fill(&file);
  transfer_write(&file, descriptor);
  close(descriptor);

  p5w_repeat(iteration, warmup, iterations);
  descriptor = transfer_open(&file, O_RDONLY);
  transfer_check(&file, descriptor);
  close(descriptor);
  if (unlink(file.name) != 0) p5w_fail(file.name);
  data_leave(directory);
  return 0;
}
