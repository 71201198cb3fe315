/* SPDX-License-Identifier: MIT */
/*
 * How does a program empty the file cache of Linux 2.0 to 2.6? These versions have no
 * /proc/sys/vm/drop_caches (2.6.16 has the first one).
 *
 * BLKFLSBUF removes the blocks of a disk from the buffer cache. Linux 2.2 keeps the pages of files
 * that were read apart from it, and only a lack of memory removes them. So the program first takes
 * most of the free memory, and then reads the disk of the current directory until it has read
 * OLD_CACHE_TIMES the rest of the memory. This is more than two turns of the clock algorithm that
 * frees the pages (shrink_mmap, mm/filemap.c of Linux 2.2). Linux 2.2 keeps a least share of the
 * memory for these pages, which the program sets to 0 meanwhile. The program must be root.
 */
#ifndef P5LAB_OLDCACHE_H
#define P5LAB_OLDCACHE_H

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define OLD_CACHE_TIMES 3
#define OLD_CACHE_CHUNK (64 << 10)
#define OLD_CACHE_FREE (3ul << 19)               /* bytes that stay free for the kernel */
#define OLD_CACHE_FLUSH 0x1261                   /* BLKFLSBUF: _IO(0x12, 97), linux/fs.h */
#define OLD_CACHE_SHARE "/proc/sys/vm/pagecache" /* least, usual and largest percentage */
#define OLD_CACHE_DEVICE "p5lab-device"
#define OLD_CACHE_RAM 1 /* major number of RAM disks, whose content BLKFLSBUF removes (rd.c) */

/* The results of stat() and sysinfo() as Linux 2.0 defines them (asm-i386/stat.h, linux/kernel.h);
 * those of the C library belong to later calls. */
struct old_stat {
  unsigned short device, more[31];
};
struct old_sysinfo {
  long uptime;
  unsigned long loads[3], memory, free, more[10];
};

/* Make a device node for the disk of the current directory, and open it. */
static inline int old_cache_open(void) {
  struct old_stat here;
  if (syscall(SYS_stat, ".", &here) != 0) return -1;
  if (here.device >> 8 == OLD_CACHE_RAM) return errno = ENODEV, -1;
  if (syscall(SYS_mknod, OLD_CACHE_DEVICE, S_IFBLK | 0600, here.device) != 0) return -1;
  int disk = open(OLD_CACHE_DEVICE, O_RDONLY), why = errno;
  unlink(OLD_CACHE_DEVICE);
  errno = why;
  return disk;
}

/* Write a text to OLD_CACHE_SHARE, and put the text before it into `before`, if a kernel has this
 * file. */
static inline void old_cache_share(const char *text, char *before, size_t size) {
  int file = open(OLD_CACHE_SHARE, O_RDWR);
  if (file < 0) return;
  ssize_t length = before ? read(file, before, size - 1) : 0;
  if (before) before[length > 0 ? length : 0] = '\0';
  if (lseek(file, 0, SEEK_SET) != 0 || write(file, text, strlen(text)) < 0)
    p5w_fail(OLD_CACHE_SHARE);
  close(file);
}

/* Take free memory. Returns its address and its size, which is 0 if there is little. */
static inline void *old_cache_hold(unsigned long free, unsigned long *size) {
  *size = free > OLD_CACHE_FREE ? free - OLD_CACHE_FREE : 0;
  void *held = MAP_FAILED;
  if (*size) held = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (held == MAP_FAILED) return *size = 0, NULL;
  return memset(held, 1, *size);
}

/* Read `count` bytes of a disk, and begin again at its end. Returns 0, or -1 with the reason in
 * errno. */
static inline int old_cache_read(int disk, unsigned long count) {
  static char chunk[OLD_CACHE_CHUNK];
  while (count > 0) {
    ssize_t got = read(disk, chunk, sizeof(chunk));
    if (got < 0) return -1;
    count = count > (unsigned long)got ? count - (unsigned long)got : 0;
    if (got > 0) continue;
    if (syscall(SYS_ioctl, disk, OLD_CACHE_FLUSH, 0) != 0 || lseek(disk, 0, SEEK_SET) != 0)
      return -1;
  }
  return syscall(SYS_ioctl, disk, OLD_CACHE_FLUSH, 0) == 0 ? 0 : -1;
}

/* Returns NULL, or the reason why the cache cannot be emptied. */
static inline const char *old_cache_empty(void) {
  struct old_sysinfo about;
  unsigned long size;
  int disk = old_cache_open();
  if (disk < 0 || syscall(SYS_sysinfo, &about) != 0) return strerror(errno);
  char share[64] = "";
  old_cache_share("0 0 100\n", share, sizeof(share));
  void *held = old_cache_hold(about.free, &size);
  int result = old_cache_read(disk, OLD_CACHE_TIMES * (about.memory - size)), why = errno;
  if (held) munmap(held, size);
  close(disk);
  if (*share) old_cache_share(share, NULL, 0);
  return result == 0 ? NULL : strerror(why);
}

#endif
