// SPDX-License-Identifier: MIT
/*
 * cached-read: read small files that were just created (chen95 section 4.5, figure 5: 128 files of
 * 4 KB, none of them from a disk). Phase 0 brackets open, read and close of all files.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "p5w.h"

#define SIZE 4096

static const char directory[] = "/tmp/p5lab-cached-read";
static char buffer[SIZE];
static long files = 128;

static const char *path(long file) {
  static char name[64];
  snprintf(name, sizeof(name), "%s/%ld", directory, file);
  return name;
}

static void create(long file) {
  int descriptor = open(path(file), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (descriptor < 0 || write(descriptor, buffer, SIZE) != SIZE || close(descriptor) != 0)
    p5w_fail(path(file));
}

static void iteration(void) {
  p5_begin(0);
  for (long i = 0; i < files; i++) {
    int descriptor = open(path(i), O_RDONLY);
    if (read(descriptor, buffer, SIZE) != SIZE) p5w_fail(path(i));
    close(descriptor);
  }
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 5, warmup = 1;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup),
                                       {"files", "files of 4 KB", &files, 1, NULL},
                                       {0}};
  p5w_start(argc, argv, options);
  if (mkdir(directory, 0700) != 0 && errno != EEXIST) p5w_fail(directory);
  for (long i = 0; i < files; i++) create(i);

  p5w_repeat(iteration, warmup, iterations);
  for (long i = 0; i < files; i++) unlink(path(i));
  rmdir(directory);
  return 0;
}
