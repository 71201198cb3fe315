// SPDX-License-Identifier: MIT
/*
 * create: create empty files on a disk file system (chen95 section 4.5, figure 7 and table 5: 128
 * files). Phase 0 brackets creation and close of all files. The program removes the files after
 * the bracket.
 *
 * chen95's systems write a new file to the disk at different times. With writes=delayed, the file
 * system chooses the time, like FAT in the paper and ext2 by default. writes=synchronous marks the
 * directory, so that the creation of each file waits for two writes: the directory block and the
 * i-node. FFS does the same. filesystem=ext2-sync has the effect of writes=synchronous for a whole
 * file system.
 */
#include "data.h"

enum writes { DELAYED, SYNCHRONOUS };
static const char *const choices[] = {"delayed", "synchronous", NULL};

static const char directory[] = "p5lab-create";
static char (*names)[12];
static long files = 128, writes = DELAYED, filesystem = DATA_DISK;

static void iteration(void) {
  if (writes == SYNCHRONOUS) data_synchronous(1);
  p5_begin(0);
  for (long i = 0; i < files; i++) {
    int descriptor = open(names[i], O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (descriptor < 0) p5w_fail(names[i]);
    close(descriptor);
  }
  p5_end(0);
  if (writes == SYNCHRONOUS) data_synchronous(0);
  for (long i = 0; i < files; i++)
    if (unlink(names[i]) != 0) p5w_fail(names[i]);
}

int main(int argc, char **argv) {
  long iterations = 5, warmup = 1;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"files", "empty files", &files, 1, NULL},
      {"writes", "delayed or synchronous", &writes, 0, choices},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  data_mount(filesystem);
  data_enter(directory);
  names = data_names(files);

  p5w_repeat(iteration, warmup, iterations);
  data_leave(directory);
  return 0;
}
