/* SPDX-License-Identifier: MIT */
/*
 * The modelled disks under Linux, for data.h: find them, mount their file systems, empty the file
 * cache. Other guest systems and hosts have no modelled disks, and neither have the programs for old
 * versions of Linux (workloads/linux2).
 *
 * A SCSI disk is a modelled disk if its vendor is not "ATA", the vendor of the guest's IDE disk. A
 * modelled disk has an MBR (guest-images/README.md): partition 1 is ext2, partition 2 FAT16. A
 * program touches these disks only after it has found the engine. The program therefore never
 * touches a real disk.
 */
#ifndef P5LAB_DISK_H
#define P5LAB_DISK_H

#include <errno.h>
#include <unistd.h>

#include "p5w.h"

#define DISK_MOUNTED_ON "/mnt"
#define DISK_MAX 64 /* talagala97 had 40 */

#if defined(__linux__) && !defined(P5LAB_OLD_LINUX)
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

/* Choose whether changes of the current directory wait for the disk. */
static inline void disk_synchronous(int on) {
  int here = open(".", O_RDONLY), flags = 0;
  if (here < 0 || ioctl(here, FS_IOC_GETFLAGS, &flags) != 0) p5w_fail("directory flags");
  flags = on ? flags | FS_DIRSYNC_FL : flags & ~FS_DIRSYNC_FL;
  if (ioctl(here, FS_IOC_SETFLAGS, &flags) != 0) p5w_fail("directory flags");
  close(here);
}
#else
static inline void disk_synchronous(int on) {
  errno = ENOSYS;
  if (on) p5w_fail("directory flags");
}
#endif

#if defined(__linux__) && !defined(P5LAB_NATIVE) && !defined(P5LAB_OLD_LINUX)

#include <dirent.h>
#include <sys/mount.h>
#include <sys/stat.h>

static struct disk {
  char name[16];  /* sdb */
  long address;   /* host, channel, target, unit in 8 bits each: the order of the disks */
} disk_all[DISK_MAX];
static int disk_count = -1; /* -1: not searched yet */

/* Read the first line of a file of the kernel. The line is "" if there is no such file. */
static inline void disk_line(const char *path, char *line, size_t size) {
  int file = open(path, O_RDONLY);
  ssize_t length = file < 0 ? 0 : read(file, line, size - 1);
  if (file >= 0) close(file);
  line[length > 0 ? length : 0] = '\0';
  line[strcspn(line, "\n")] = '\0';
}

/* Write a text to a file of the kernel. Returns 0, or -1 with the reason in errno. */
static inline int disk_put(const char *path, const char *text) {
  int file = open(path, O_WRONLY);
  if (file < 0) return -1;
  ssize_t written = write(file, text, strlen(text));
  int error = errno;
  close(file);
  errno = error;
  return written == (ssize_t)strlen(text) ? 0 : -1;
}

/* Look for the modelled disks, in the order of their adapters and SCSI addresses. */
static inline void disk_find(void) {
  disk_count = 0;
  DIR *all = p5_marker_enabled ? opendir("/sys/block") : NULL;
  for (struct dirent *entry; all && (entry = readdir(all)) && disk_count < DISK_MAX;) {
    char path[64], vendor[16], link[64];
    if (strncmp(entry->d_name, "sd", 2) != 0 || strlen(entry->d_name) > 5) continue;
    snprintf(path, sizeof(path), "/sys/block/%.8s/device/vendor", entry->d_name);
    disk_line(path, vendor, sizeof(vendor));
    if (!*vendor || strncmp(vendor, "ATA", 3) == 0) continue;
    snprintf(path, sizeof(path), "/sys/block/%.8s/device", entry->d_name);
    ssize_t length = readlink(path, link, sizeof(link) - 1);
    link[length > 0 ? length : 0] = '\0';
    int host = 0, channel = 0, target = 0, unit = 0;
    const char *address = strrchr(link, '/'); /* ../../../2:0:1:0 */
    if (!address || sscanf(address, "/%d:%d:%d:%d", &host, &channel, &target, &unit) != 4) continue;
    struct disk found = {.address = ((host * 256L + channel) * 256 + target) * 256 + unit};
    snprintf(found.name, sizeof(found.name), "%.8s", entry->d_name);
    int place = disk_count++;
    for (; place > 0 && disk_all[place - 1].address > found.address; place--)
      disk_all[place] = disk_all[place - 1];
    disk_all[place] = found;
  }
  if (all) closedir(all);
}

/* The n-th modelled disk, counted from 0, or NULL: the whole disk (partition 0) or a partition. */
static inline const char *disk_path(int n, int partition) {
  static char path[32];
  if (disk_count < 0) disk_find();
  if (n < 0 || n >= disk_count) return NULL;
  snprintf(path, sizeof(path), partition ? "/dev/%.20s%d" : "/dev/%.20s", disk_all[n].name, partition);
  return access(path, F_OK) == 0 ? path : NULL;
}

#ifndef O_DIRECT /* glibc defines it only with _GNU_SOURCE */
#define O_DIRECT 040000 /* on x86 */
#endif

static inline int disk_open_raw(const char *path) { return open(path, O_RDWR | O_DIRECT); }

#include "card.h"
#include "stripe.h"

/* Mount one of data.h's file systems. Returns NULL, or the reason why that is impossible here. */
static inline const char *disk_mount(long filesystem) {
  static const char none[] = "needs a modelled disk, and this machine has none";
  static char why[160];
  mkdir(DISK_MOUNTED_ON, 0755);
  if (filesystem >= DATA_NFS_ASYNC)
    return card_mount(filesystem == DATA_NFS_SYNC ? "sync" : "async", DISK_MOUNTED_ON);
  if (!disk_path(0, 0)) return none;
  const char *device, *type = "ext2";
  unsigned long flags = filesystem == DATA_EXT2_SYNC ? MS_DIRSYNC : 0;
  if (filesystem == DATA_RAID0) {
    if (stripe_start(&device, why, sizeof(why)) != 0) return why;
  } else {
    device = disk_path(0, filesystem == DATA_FAT ? 2 : 1);
    if (!device) return "needs a partition that the modelled disk does not have";
  }
  if (filesystem == DATA_FAT) type = "vfat";
  if (mount(device, DISK_MOUNTED_ON, type, flags, NULL) == 0) return NULL;
  snprintf(why, sizeof(why), "mount %s as %s: %s", device, type, strerror(errno));
  return why;
}

static inline void disk_unmount(void) {
  if (chdir("/") != 0 || umount(DISK_MOUNTED_ON) != 0) p5w_fail("umount " DISK_MOUNTED_ON);
  stripe_stop();
}

/* Drop clean pages, i-nodes and directory entries. The caller has already written the dirty pages
 * by sync().
 */
static inline const char *disk_drop_caches(void) {
  return disk_put("/proc/sys/vm/drop_caches", "3") == 0 ? NULL : strerror(errno);
}

#else

static inline const char *disk_path(int n, int partition) { return (void)n, (void)partition, NULL; }
static inline int disk_open_raw(const char *path) { return (void)path, errno = ENODEV, -1; }
static inline const char *disk_mount(long filesystem) {
  (void)filesystem;
  return "needs a modelled disk, and there is none here";
}
static inline void disk_unmount(void) {}

#ifdef P5LAB_OLD_LINUX
#include "oldcache.h"
static inline const char *disk_drop_caches(void) { return old_cache_empty(); }
#else
static inline const char *disk_drop_caches(void) { return "cannot be emptied here"; }
#endif

#endif
#endif
