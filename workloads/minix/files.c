/* SPDX-License-Identifier: MIT */
/*
 * cached-read: read files of 4 KB that were just created. create: create empty files (chen95 section
 * 4.5, figures 5 and 7). Phases 4 and 5 bracket all files.
 */
#include <sys/types.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include "p5.h"

#define SIZE 4096

static char buffer[SIZE], name[] = "f00";
static int count;

static char *named(int file)
{
  name[1] = '0' + file / 10 % 10;
  name[2] = '0' + file % 10;
  return name;
}

static int opened(int file, int flags)
{
  int descriptor = open(named(file), flags, 0600);

  if (descriptor < 0) p5_fail(name);
  return descriptor;
}

static void read_all(void)
{
  int i, descriptor, wrong = 0;

  p5_begin(4);
  for (i = 0; i < count; i++) {
    descriptor = opened(i, O_RDONLY);
    if (read(descriptor, buffer, SIZE) != SIZE) p5_fail(name);
    close(descriptor);
    wrong |= buffer[i] != (char)(i + 1);
  }
  p5_end(4);
  if (wrong) p5_fail("a file has other bytes");
}

static void create_all(void)
{
  int i;

  p5_begin(5);
  for (i = 0; i < count; i++) close(opened(i, O_WRONLY | O_CREAT | O_EXCL));
  p5_end(5);
  for (i = 0; i < count; i++) unlink(named(i));
}

void files(void)
{
  int i, descriptor, passes = p5_parameter("passes", 2);

  count = p5_parameter("files", 32);
  if (count < 1 || count > 99) p5_fail("files: expected 1 to 99");
  p5_name(4L, "cached-read");
  p5_name(5L, "create");
  for (i = 0; i < count; i++) {
    descriptor = opened(i, O_WRONLY | O_CREAT | O_TRUNC);
    memset(buffer, i + 1, SIZE);
    if (write(descriptor, buffer, SIZE) != SIZE) p5_fail("the disk is full");
    close(descriptor);
  }
  p5_repeat(read_all, 1, passes);
  for (i = 0; i < count; i++) unlink(named(i));
  p5_repeat(create_all, 1, passes);
}
