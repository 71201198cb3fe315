// SPDX-License-Identifier: MIT
/*
 * cached-read: read small files that were just created, so that the disk is not read (chen95
 * section 4.5, figure 5: 128 files of 4 KB on the default file system). Phase 0 brackets open, read
 * and close of all files.
 */
#include "data.h"

#define SIZE 4096

static const char directory[] = "p5lab-cached-read";
static char buffer[SIZE];
static char (*names)[12];
static long files = 128, filesystem = DATA_DISK;

static void create(long file) {
  int descriptor = open(names[file], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (descriptor < 0) p5w_fail(names[file]);
  data_fill(buffer, SIZE, 0, (uint32_t)file);
  data_write(descriptor, buffer, SIZE, names[file]);
  if (close(descriptor) != 0) p5w_fail(names[file]);
}

static void check(long file) {
  int descriptor = open(names[file], O_RDONLY);
  data_read(descriptor, buffer, SIZE, names[file]);
  data_check(buffer, SIZE, 0, (uint32_t)file, names[file]);
  close(descriptor);
}

static void iteration(void) {
  p5_begin(0);
  for (long i = 0; i < files; i++) {
    int descriptor = open(names[i], O_RDONLY);
    if (read(descriptor, buffer, SIZE) != SIZE) p5w_fail(names[i]);
    close(descriptor);
  }
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 5, warmup = 1;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup),
                                       {"files", "files of 4 KB", &files, 1, NULL},
                                       DATA_FILESYSTEM(filesystem),
                                       {0}};
  p5w_start(argc, argv, options);
  data_mount(filesystem);
  data_enter(directory);
  names = data_names(files);
  for (long i = 0; i < files; i++) create(i);

  p5w_repeat(iteration, warmup, iterations);
  for (long i = 0; i < files; i++) check(i), unlink(names[i]);
  data_leave(directory);
  return 0;
}
