/* SPDX-License-Identifier: MIT */
/* Find the disk on the IDE channel. SCSI disks have names of the same kind. */
#ifndef P5LAB_IDE_H
#define P5LAB_IDE_H

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Whether the disk of this name is on an IDE channel. The kernel shows this as the disk's vendor.
 */
static inline int ide_is(const char *name) {
  char path[64], vendor[3] = "";
  snprintf(path, sizeof(path), "/sys/block/%s/device/vendor", name);
  int file = open(path, O_RDONLY);
  if (file < 0) return 0;
  ssize_t length = read(file, vendor, sizeof(vendor));
  close(file);
  return length == sizeof(vendor) && memcmp(vendor, "ATA", sizeof(vendor)) == 0;
}

/* The path of the first IDE disk, or NULL if there is no IDE disk. /sys must be mounted. */
static inline const char *ide_disk(void) {
  static char path[] = "/dev/sda";
  char *const letter = path + sizeof(path) - 2;
  for (*letter = 'a'; *letter <= 'z'; ++*letter)
    if (ide_is(path + strlen("/dev/"))) return path;
  return NULL;
}

#endif
