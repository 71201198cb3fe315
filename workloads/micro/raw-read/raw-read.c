// SPDX-License-Identifier: MIT
/*
 * raw-read: read a disk without the file cache, in requests of growing size (talagala97 section
 * 6.3, figures 5 and 6: raw reads of varying size). Each size is a phase. In the bracket of a
 * phase, the program reads `kb` KB in sequence from a separate region, which it has written before.
 *
 * The regions lie behind the partitions of the first modelled disk, from 1 GB on. There is one more
 * region, which the program writes last and reads first. After that, the disk's buffer holds no
 * data of the other regions.
 */
#include "transfer.h"

#define REGIONS_KB (1L << 20) /* KB before the regions */

int main(int argc, char **argv) {
  long kb = 1024, min = 512, max = 256 << 10, one = 0;
  const struct p5w_option options[] = {
      {"kb", "KB that are read in each size", &kb, 1, NULL},
      {"min", "smallest request, a power of two", &min, DATA_SECTOR, NULL},
      {"max", "largest request, at most 512K", &max, DATA_SECTOR, NULL},
      {"size", "this request only, a power of two; 0: all from min to max", &one, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  if (one) min = max = one;
  if (min & (min - 1) || min > max || max > 512 << 10 ||
      (kb << 10) % max != 0) {
    fprintf(stderr, "%s: min must be a power of two up to max, which kb must be a multiple of\n",
            argv[0]);
    return P5W_EXIT_USAGE;
  }
  const char *path = data_disk(0);
  if (!path) data_unavailable("raw-read", "needs a modelled disk, and this machine has none");
  int disk = data_open_raw(path), regions = 1;
  for (long size = min; size <= max; size *= 2) regions++;

  struct transfer region = transfer_new(kb, max, path);
  transfer_fill(&region);
  for (int i = 0; i < regions; i++) {
    region.key = (uint32_t)i;
    region.offset = REGIONS_KB + i * kb;
    transfer_fill(&region);
    transfer_seek(&region, disk);
    transfer_write(&region, disk);
  }
  fsync(disk);
  transfer_seek(&region, disk);
  transfer_check(&region, disk);
  p5w_await_tick();
  for (int i = 0; i < regions - 1; i++) {
    region.request = min << i;
    region.key = (uint32_t)i;
    region.offset = REGIONS_KB + i * kb;
    transfer_seek(&region, disk);
    p5_begin((uint32_t)region.request);
    transfer_read(&region, disk);
    p5_end((uint32_t)region.request);
  }
  return 0;
}
