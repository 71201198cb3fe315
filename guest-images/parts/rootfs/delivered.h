/* SPDX-License-Identifier: MIT */
/*
 * The files that the engine delivers to init for a job: the program, and what it needs. No guest
 * contains the workloads.
 *
 * The files are in one archive of the format ustar (POSIX.1-1988), which contains only regular
 * files. init reads the archive after the ready marker, through markers, and writes each file to its
 * path. The program starts after that, so its brackets contain nothing of this work.
 */
#ifndef P5LAB_DELIVERED_H
#define P5LAB_DELIVERED_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "marker.h"

#define TAR_BLOCK 512

/* The fields of a header in the format ustar. Numbers are octal. */
struct tar_header {
  char name[100], mode[8], uid[8], gid[8], size[12], time[12], checksum[8], kind, link[100],
      magic[6], version[2], owner[32], group[32], major[8], minor[8], prefix[155], unused[12];
};

/* The delivered archive, which is read from its begin to its end in pieces of 12 bytes. */
static struct {
  uint32_t offset;
  size_t first, count; /* the bytes of `piece` that are left */
  char piece[12];
} delivered;

/* Read the next bytes of the archive. Returns the number of bytes, which is less than `length` only
 * at the end.
 */
static size_t delivered_read(char* bytes, size_t length) {
  size_t done = 0;
  while (done < length) {
    if (delivered.count == 0) {
      delivered.first = 0;
      delivered.count = p5_program(delivered.offset, delivered.piece);
      delivered.offset += (uint32_t)delivered.count;
      if (delivered.count == 0) break;
    }
    size_t part = length - done < delivered.count ? length - done : delivered.count;
    memcpy(bytes + done, delivered.piece + delivered.first, part);
    delivered.first += part, delivered.count -= part, done += part;
  }
  return done;
}

/* Make the directories above a path. */
static void make_parents(char* path) {
  for (char* slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
}

/* Write `size` bytes of the archive, and skip the rest of the last block. Returns 0, or -1 with the
 * reason in errno.
 */
static int write_delivered(int file, size_t size) {
  static char buffer[8 * TAR_BLOCK];
  while (size > 0) {
    size_t part = size < sizeof(buffer) ? size : sizeof(buffer);
    size_t padded = (part + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    if (delivered_read(buffer, padded) != padded) return errno = EIO, -1;
    ssize_t written = write(file, buffer, part);
    if (written >= 0 && (size_t)written != part) errno = ENOSPC;
    if (written != (ssize_t)part) return -1;
    size -= part;
  }
  return 0;
}

/* Write all files of the archive, if there is one. Returns 0, or -1 with the reason in errno and the
 * path of the file in `path`.
 */
static int unpack_delivered(char* path, size_t path_size) {
  struct tar_header header;
  snprintf(path, path_size, "files");
  while (delivered_read((char*)&header, sizeof(header)) == sizeof(header) && header.name[0]) {
    snprintf(path, path_size, "/%.155s%s%.100s", header.prefix, header.prefix[0] ? "/" : "",
             header.name);
    size_t size = strtoul(header.size, NULL, 8);
    mode_t mode = (mode_t)strtoul(header.mode, NULL, 8);
    make_parents(path);
    unlink(path); /* it may be a link to another file */
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    if (file < 0) return -1;
    int result = write_delivered(file, size);
    if (close(file) != 0 || result != 0) return -1;
  }
  return 0;
}

#endif
