// SPDX-License-Identifier: MIT
/*
 * create-delete: create a file, write it, close it, open it again, read it, close it, remove it
 * (ousterhout90 table 10 and section 11; lai96 section 7.2, figure 12: crtdel). Phase = size of the
 * file. A bracket contains one file, which is written by one call and read by one call. Outside of
 * the bracket, the program compares the data that it read with the data that it wrote.
 */
#include "data.h"

#define SIZE_MAX_KB 1024

enum sizes { TABLE, STEPS, POWERS };
static const char *const choices[] = {"table", "steps", "powers", NULL};
static const long in_kb[][12] = {[TABLE] = {0, 10, 100, -1},
                                 [STEPS] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, -1},
                                 [POWERS] = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, -1}};

static const char directory[] = "p5lab-create-delete", name[] = "file";
static char written[SIZE_MAX_KB << 10], found[SIZE_MAX_KB << 10];
static long size;
static uint32_t files; /* number of files so far; each has its own contents */

static void iteration(void) {
  data_fill(written, size, 0, ++files);
  memset(found, 0, (size_t)size);
  p5_begin((uint32_t)size);
  int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) p5w_fail(name);
  if (size > 0) data_write(file, written, size, name);
  if (close(file) != 0) p5w_fail(name);
  file = open(name, O_RDONLY);
  if (file < 0) p5w_fail(name);
  if (size > 0) data_read(file, found, size, name);
  int failed = close(file) != 0 || unlink(name) != 0;
  p5_end((uint32_t)size);
  if (failed) p5w_fail(name);
  data_check(found, size, 0, files, name);
  if (access(name, F_OK) == 0) {
    fprintf(stderr, "%s: still there\n", name);
    exit(P5W_EXIT_FAILED);
  }
}

int main(int argc, char **argv) {
  long iterations = 5, warmup = 1, sizes = TABLE, filesystem = DATA_DISK;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"sizes", "table, steps or powers: 0, 10 and 100 KB, 1 to 10 KB, or 1 KB to 1 MB", &sizes, 0,
       choices},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  data_mount(filesystem);
  data_enter(directory);
  for (const long *kb = in_kb[sizes]; *kb >= 0; kb++) {
    size = *kb << 10;
    p5w_repeat(iteration, warmup, iterations);
  }
  data_leave(directory);
  return 0;
}
