// SPDX-License-Identifier: MIT
/*
 * parallel-read: several processes read at the same time, each in sequence from its own disk
 * (talagala97 section 6.2: parallel reads on separate disks, without the systems' stripe drivers).
 * Phase 0 lasts from the start signal for all processes to the end of the last process.
 *
 * through=cache reads the disks' block devices, so that the kernel copies every byte to the
 * process. through=raw does not use the file cache. The processor then reads the bytes only to
 * check them.
 */
#include "child.h"
#include "transfer.h"

#define REGION_KB (1L << 20) /* KB before the region to read, which is behind the partitions */

enum through { CACHE, RAW };
static const char *const choices[] = {"cache", "raw", NULL};

static struct transfer region;
static long through = CACHE;

/* Open disk n and write the data that will be read. */
static int disk_new(int n) {
  const char *path = data_disk(n);
  if (!path) data_unavailable("parallel-read", "needs more modelled disks than this machine has");
  int disk = data_open_raw(path);
  region.key = (uint32_t)n;
  transfer_fill(&region);
  transfer_seek(&region, disk);
  transfer_write(&region, disk);
  if (through == RAW) return disk;
  close(disk);
  disk = open(path, O_RDONLY);
  if (disk < 0) p5w_fail(path);
  return disk;
}

int main(int argc, char **argv) {
  long kb = 4096, request = 65536, disks = 1;
  const struct p5w_option options[] = {
      {"kb", "KB that are read, evenly from all disks", &kb, 1, NULL},
      {"request", "bytes of a read, a multiple of 512", &request, DATA_SECTOR, NULL},
      {"disks", "modelled disks, read at once", &disks, 1, NULL},
      {"through", "cache or raw", &through, 0, choices},
      {0}};
  p5w_start(argc, argv, options);
  if (disks > DISK_MAX || kb % disks != 0 || (kb / disks << 10) % request != 0) {
    fprintf(stderr, "%s: kb must be a multiple of what all disks read at once\n", argv[0]);
    return P5W_EXIT_USAGE;
  }
  region = transfer_new(kb / disks, request, "disk");
  region.offset = REGION_KB;
  int open_disks[DISK_MAX], go[2], ready[2];
  char byte = 0;
  if (pipe(go) != 0 || pipe(ready) != 0) p5w_fail("pipe");
  for (int i = 0; i < disks; i++) open_disks[i] = disk_new(i);

  pid_t children[DISK_MAX];
  for (int i = 0; i < disks; i++) {
    if ((children[i] = fork()) != 0) continue;
    region.key = (uint32_t)i;
    transfer_seek(&region, open_disks[i]);
    if (write(ready[1], &byte, 1) != 1 || read(go[0], &byte, 1) != 1) _exit(1);
    transfer_read(&region, open_disks[i]);
    _exit(0);
  }
  for (int i = 0; i < disks; i++)
    if (read(ready[0], &byte, 1) != 1) p5w_fail("children");
  p5w_await_tick();
  p5_begin(0);
  for (int i = 0; i < disks; i++)
    if (write(go[1], &byte, 1) != 1) p5w_fail("go");
  for (int i = 0; i < disks; i++) child_wait(children[i]);
  p5_end(0);
  return 0;
}
