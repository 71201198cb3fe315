/* SPDX-License-Identifier: MIT */
/*
 * The places and the contents of a file benchmark's files.
 *
 * The place is the parameter `filesystem` of every file benchmark:
 *
 *   data       the directory P5LAB_DATA: the guest's first IDE disk; on a host the current
 *              directory
 *   memory     /tmp, which is not on a disk in a guest; on a host TMPDIR, if that is set
 *   ext2       partition 1 of the first modelled disk (disk.h): the kernel decides when a changed
 *              directory reaches the disk
 *   ext2-sync  the same, but a change of a directory waits for the disk, as with FFS
 *   fat        partition 2: FAT16 with clusters of 4 KB
 *   raid0      an ext2 of 256 MB with blocks of 4 KB, on a stripe over all modelled disks
 *   nfs-async  the file server of the remote host (docs/evidence/network-benchmarks.md), which
 *              answers before it writes to its disk
 *   nfs-sync   the same, but each answer waits for the disk
 *
 * The program mounts and unmounts its file system (data_mount, data_leave) outside its brackets.
 * disk.h contains the parts for Linux only.
 */
#ifndef P5LAB_DATA_H
#define P5LAB_DATA_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <sys/stat.h>
#include <unistd.h>

#include "p5w.h"

enum data_filesystem {
  DATA_DISK,
  DATA_MEMORY,
  DATA_EXT2,
  DATA_EXT2_SYNC,
  DATA_FAT,
  DATA_RAID0,
  DATA_NFS_ASYNC,
  DATA_NFS_SYNC
};
static const char *const data_filesystems[] = {"data", "memory", "ext2",      "ext2-sync", "fat",
                                               "raid0", "nfs-async", "nfs-sync", NULL};

#define DATA_FILESYSTEM(filesystem)                                                \
  {                                                                                \
    "filesystem", "data, memory, ext2, ext2-sync, fat, raid0 or nfs", &(filesystem), 0, \
        data_filesystems                                                           \
  }

#include "disk.h"

static long data_mounted = DATA_DISK;
static int data_in_guest; /* the markers do not show this: they are off during the warm-up */

/* Print what this system does not have, and give up. */
static inline _Noreturn void data_unavailable(const char *what, const char *why) {
  fprintf(stderr, "%s: %s\n", what, why);
  exit(P5W_EXIT_UNAVAILABLE);
}

/* Select the file system for data_enter(). Call after p5w_start(). Exits with P5W_EXIT_UNAVAILABLE
 * if this system does not have the file system. On a host, only `data` and `memory` exist, so that
 * no program changes the disks of the host.
 */
static inline void data_mount(long filesystem) {
  data_mounted = filesystem;
  if (filesystem >= DATA_EXT2) {
    const char *why = disk_mount(filesystem);
    if (why) data_unavailable(data_filesystems[filesystem], why);
  }
}

/* Make a directory `name` on the file system and change to it. Exits with P5W_EXIT_UNAVAILABLE in a
 * guest without a disk, because the directory would then be in memory. Call after p5w_start(). If
 * the file system is not `data`, call data_mount() before this function.
 */
static inline void data_enter(const char *name) {
  data_in_guest = p5_marker_enabled;
  const char *place = getenv("P5LAB_DATA");
  if (data_mounted == DATA_MEMORY) {
    place = data_in_guest ? NULL : getenv("TMPDIR");
    if (!place) place = "/tmp";
  }
  if (data_mounted >= DATA_EXT2) place = DISK_MOUNTED_ON;
  if (!place && data_in_guest)
    data_unavailable(name, "needs a disk, and this guest has none");
  if (place && chdir(place) != 0) p5w_fail(place);
  if ((mkdir(name, 0700) != 0 && errno != EEXIST) || chdir(name) != 0) p5w_fail(name);
}

/* Leave the directory, which must be empty, and remove it. Unmount the file system of data_mount().
 */
static inline void data_leave(const char *name) {
  if (chdir("..") != 0 || rmdir(name) != 0) p5w_fail(name);
  if (data_mounted >= DATA_EXT2) disk_unmount();
  data_mounted = DATA_DISK;
}

/* Return `count` file names, "0" to "count - 1". */
static inline char (*data_names(long count))[12] {
  char(*names)[12] = malloc((size_t)count * sizeof(*names));
  if (!names) p5w_fail("file names");
  for (long i = 0; i < count; i++) snprintf(names[i], sizeof(names[i]), "%d", (int)i);
  return names;
}

/* Wait until all written data are on the disk. */
static inline void data_sync(void) { sync(); }

/* Wait as data_sync() does, and empty the file cache, so that the next reads come from the disk.
 * With `memory` the data stay in memory, because this file system has no disk. If a program is
 * measured on a host, this function ends the program, because it cannot empty the file cache.
 * Without markers nothing is measured, and the function does nothing. Call after data_enter().
 */
static inline void data_drop_caches(void) {
  sync();
  if (data_mounted == DATA_MEMORY || !data_in_guest) return;
  const char *why = disk_drop_caches();
  if (why) data_unavailable("file cache", why);
}

/* Choose whether each change of the current directory waits for the disk from now on. This replaces
 * the default of the file system. Works on ext2 and similar file systems only.
 */
static inline void data_synchronous(int on) { disk_synchronous(on); }

/* Allocate `size` bytes at the beginning of a page, for whole blocks and for raw disks. */
static inline char *data_buffer(long size) {
  void *buffer;
  if ((errno = posix_memalign(&buffer, 4096, (size_t)size)) != 0) p5w_fail("buffer");
  memset(buffer, 0, (size_t)size);
  return buffer;
}

/* Read or write all of `size` bytes, or give up. */
static inline void data_read(int descriptor, char *buffer, long size, const char *name) {
  errno = EIO; /* the file is too short */
  if (read(descriptor, buffer, (size_t)size) != (ssize_t)size) p5w_fail(name);
}

static inline void data_write(int descriptor, const char *buffer, long size, const char *name) {
  errno = ENOSPC; /* the file does not fit */
  if (write(descriptor, buffer, (size_t)size) != (ssize_t)size) p5w_fail(name);
}

/* The contents of a file: words of 32 bits that depend on the file (`key`) and the position. The
 * first word of every DATA_SECTOR bytes is the mark of the sector and identifies the sector. The
 * other words are the same in each sector. A benchmark that writes a long file fills its buffer
 * once and then changes only the marks, so that it does not measure the filling. A benchmark that
 * reads the file checks the marks within its brackets, and all bytes outside of them. `offset` is a
 * multiple of DATA_SECTOR.
 */
#define DATA_SECTOR 512

#define DATA_STEP 2246822519u /* difference between neighbouring words of a sector */

static inline uint32_t data_word(uint32_t key, long word) {
  return (key + 1) * 2654435761u + (uint32_t)word * DATA_STEP;
}

static inline uint32_t data_mark_of(uint32_t key, long offset) {
  return ~data_word(key, 128 + offset / DATA_SECTOR);
}

/* The number of bytes of a word that lie within the first `size` bytes. */
static inline size_t data_part(long at, long size) { return (size_t)(size - at < 4 ? size - at : 4); }

/* Write the marks of the file's bytes from `offset` on. */
static inline void data_mark(char *buffer, long size, long offset, uint32_t key) {
  for (long at = 0; at < size; at += DATA_SECTOR) {
    uint32_t mark = data_mark_of(key, offset + at);
    memcpy(buffer + at, &mark, data_part(at, size));
  }
}

/* Write all of the file's bytes from `offset` on. */
static inline void data_fill(char *buffer, long size, long offset, uint32_t key) {
  for (long sector = 0; sector < size; sector += DATA_SECTOR) {
    uint32_t word = data_word(key, 0);
    long at = sector, whole = size - sector < DATA_SECTOR ? size & ~3L : sector + DATA_SECTOR;
    for (; at < whole; at += 4, word += DATA_STEP) memcpy(buffer + at, &word, 4);
    if (at < sector + DATA_SECTOR) memcpy(buffer + at, &word, data_part(at, size));
  }
  data_mark(buffer, size, offset, key);
}

static inline _Noreturn void data_wrong(const char *name, long offset) {
  fprintf(stderr, "%s: byte %ld is not what was written\n", name, offset);
  exit(P5W_EXIT_FAILED);
}

/* Give up unless the marks belong to the file's bytes from `offset` on. */
static inline void data_check_marks(const char *buffer, long size, long offset, uint32_t key,
                                    const char *name) {
  for (long at = 0; at < size; at += DATA_SECTOR) {
    uint32_t mark = data_mark_of(key, offset + at), found = mark;
    memcpy(&found, buffer + at, data_part(at, size));
    if (found != mark) data_wrong(name, offset + at);
  }
}

/* Give up unless these are the file's bytes from `offset` on. */
static inline void data_check(const char *buffer, long size, long offset, uint32_t key,
                              const char *name) {
  data_check_marks(buffer, size, offset, key, name);
  for (long sector = 0; sector < size; sector += DATA_SECTOR) {
    uint32_t word = data_word(key, 1);
    for (long at = sector + 4; at < size && at < sector + DATA_SECTOR; at += 4, word += DATA_STEP) {
      uint32_t found = word;
      if (at + 4 <= size)
        memcpy(&found, buffer + at, 4);
      else
        memcpy(&found, buffer + at, data_part(at, size));
      if (found != word) data_wrong(name, offset + at);
    }
  }
}

/* Raw disks: the n-th modelled disk, counted from 0, or NULL if there are fewer. */
static inline const char *data_disk(int n) { return disk_path(n, 0); }

/* Open a disk without the file cache. Buffer, offset and size of every transfer must be multiples
 * of DATA_SECTOR.
 */
static inline int data_open_raw(const char *path) {
  int descriptor = disk_open_raw(path);
  if (descriptor < 0) p5w_fail(path);
  return descriptor;
}

#endif
