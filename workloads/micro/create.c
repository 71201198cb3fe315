// SPDX-License-Identifier: MIT
/*
 * create: create empty files on a disk file system (chen95 section 4.5, figure 7 and table 5: 128
 * files). Phase 0 brackets creation and close of all files; they are removed outside of it.
 *
 * chen95's systems differ in when the disk learns of it. writes=delayed leaves that to the file
 * system, as FAT does there and ext2 by itself; writes=synchronous marks the directory so that each
 * file waits for its two writes, directory block and i-node, as under FFS.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <sys/ioctl.h>

#include "data.h"

enum writes { DELAYED, SYNCHRONOUS };
static const char *const choices[] = {"delayed", "synchronous", NULL};

static const char directory[] = "p5lab-create";
static char (*names)[12];
static long files = 128, writes = DELAYED;

/* Whether changes of the current directory wait for the disk. */
static void synchronous(int on) {
  int here = open(".", O_RDONLY), flags = 0;
  if (here < 0 || ioctl(here, FS_IOC_GETFLAGS, &flags) != 0) p5w_fail("directory flags");
  flags = on ? flags | FS_DIRSYNC_FL : flags & ~FS_DIRSYNC_FL;
  if (ioctl(here, FS_IOC_SETFLAGS, &flags) != 0) p5w_fail("directory flags");
  close(here);
}

static void iteration(void) {
  if (writes == SYNCHRONOUS) synchronous(1);
  p5_begin(0);
  for (long i = 0; i < files; i++) {
    int descriptor = open(names[i], O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (descriptor < 0) p5w_fail(names[i]);
    close(descriptor);
  }
  p5_end(0);
  if (writes == SYNCHRONOUS) synchronous(0);
  for (long i = 0; i < files; i++)
    if (unlink(names[i]) != 0) p5w_fail(names[i]);
}

int main(int argc, char **argv) {
  long iterations = 5, warmup = 1;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"files", "empty files", &files, 1, NULL},
      {"writes", "delayed or synchronous", &writes, 0, choices},
      {0}};
  p5w_start(argc, argv, options);
  data_enter(directory);
  names = data_names(files);

  p5w_repeat(iteration, warmup, iterations);
  data_leave(directory);
  return 0;
}
