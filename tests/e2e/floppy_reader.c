// SPDX-License-Identifier: MIT
/*
 * Reads a FAT image with Linux's own file system (test_floppies.py). FLOPPY is the path of the image. The
 * program writes the image to the first partition of the modelled disk, mounts it, and prints the
 * name, the size and a sum of each file.
 */
#include <dirent.h>
#include <stdint.h>

#include "data.h"

extern const char image[], image_end[];
__asm__(".section .rodata\nimage: .incbin \"" FLOPPY "\"\nimage_end:\n.text\n");

static void show(const char *name) {
  int file = open(name, O_RDONLY);
  uint32_t sum = 2166136261u;
  long size = 0;
  unsigned char bytes[512];
  for (ssize_t got; (got = read(file, bytes, sizeof(bytes))) > 0; size += got)
    for (ssize_t i = 0; i < got; i++) sum = (sum ^ bytes[i]) * 16777619u; /* FNV-1a */
  close(file);
  printf("%s %ld %08x\n", name, size, sum);
}

int main(void) {
  p5_marker_init();
  const char *path = disk_path(0, 1);
  int disk = path ? open(path, O_RDWR) : -1;
  if (disk < 0 || write(disk, image, (size_t)(image_end - image)) != image_end - image ||
      fsync(disk) != 0)
    p5w_fail("disk");
  close(disk);
  mkdir("/mnt", 0700);
  if (mount(path, "/mnt", "vfat", MS_RDONLY, "shortname=win95") != 0 || chdir("/mnt") != 0)
    p5w_fail("mount");
  DIR *all = opendir(".");
  for (struct dirent *entry; (entry = readdir(all));)
    if (entry->d_name[0] != '.') show(entry->d_name);
  return 0;
}
