/* SPDX-License-Identifier: MIT */
/*
 * small-files: read many files of 8 KB from the disk (chen95 section 4.5, figure 6 and table 4). Phase
 * 8 brackets open, read and close of all files.
 *
 * MINIX has one cache for the blocks of all files, with the least recently used block at its end. So
 * the read of a file that is larger than the cache removes the others from it.
 */
#include <sys/types.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "p5.h"

#define SIZE 8192
#define LARGE 256 /* times SIZE: 2 MB */

static char buffer[SIZE], directory[] = "d0", name[] = "d0/f00";
static int count, directories;

static char *named(int file)
{
  name[1] = '0' + (int)((long)file * directories / count);
  name[4] = '0' + file / 10;
  name[5] = '0' + file % 10;
  return name;
}

static int opened(char *path, int flags)
{
  int descriptor = open(path, flags, 0600);

  if (descriptor < 0) p5_fail(path);
  return descriptor;
}

static void write_file(char *path, int byte, int times)
{
  int descriptor = opened(path, O_WRONLY | O_CREAT | O_TRUNC);

  memset(buffer, byte, SIZE);
  while (times-- > 0)
    if (write(descriptor, buffer, SIZE) != SIZE) p5_fail("the disk is full");
  close(descriptor);
}

static void empty_cache(void)
{
  int i, descriptor;

  sync();
  descriptor = opened("large", O_RDONLY);
  for (i = 0; i < LARGE; i++)
    if (read(descriptor, buffer, SIZE) != SIZE) p5_fail("large");
  close(descriptor);
}

static void read_all(void)
{
  int i, descriptor, wrong = 0;

  empty_cache();
  p5_begin(8);
  for (i = 0; i < count; i++) {
    descriptor = opened(named(i), O_RDONLY);
    if (read(descriptor, buffer, SIZE) != SIZE) p5_fail(name);
    close(descriptor);
    wrong |= buffer[0] != (char)(i + 1) || buffer[SIZE - 1] != (char)(i + 1);
  }
  p5_end(8);
  if (wrong) p5_fail("a file has other bytes");
}

void small_files(void)
{
  int i;

  count = p5_parameter("files", 32);
  directories = p5_parameter("directories", 4);
  if (count < 1 || count > 99) p5_fail("files: expected 1 to 99");
  if (directories < 1 || directories > 9) p5_fail("directories: expected 1 to 9");
  p5_name(8L, "small-files");
  for (i = 0; i < directories; i++) {
    directory[1] = '0' + i;
    if (mkdir(directory, 0700) != 0) p5_fail(directory);
  }
  for (i = 0; i < count; i++) write_file(named(i), i + 1, 1);
  write_file("large", 0, LARGE);
  p5_repeat(read_all, 0, 1);
  unlink("large");
  for (i = 0; i < count; i++) unlink(named(i));
  for (i = 0; i < directories; i++) {
    directory[1] = '0' + i;
    rmdir(directory);
  }
}
