// SPDX-License-Identifier: MIT
/*
 * open-close: open a file and close it again (ousterhout90 table 9). Phase 0 opens "foo". Phase 1
 * opens "a/b/c/foo", a name with four elements. A bracket contains one pair of calls.
 */
#include "data.h"

static const char directory[] = "p5lab-open-close";
static const char *const names[] = {"foo", "a/b/c/foo"};
static const char *const parents[] = {"a", "a/b", "a/b/c"};
#define PARENTS ((int)(sizeof(parents) / sizeof(*parents)))

static uint32_t current; /* number of the current name and phase */

/* Each file contains its own name. */
static void create(const char *name) {
  int file = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) p5w_fail(name);
  data_write(file, name, (long)strlen(name), name);
  if (close(file) != 0) p5w_fail(name);
}

static void check(const char *name) {
  char text[16] = "";
  int file = open(name, O_RDONLY);
  if (file < 0 || read(file, text, sizeof(text) - 1) < 0 || close(file) != 0) p5w_fail(name);
  if (strcmp(text, name) == 0) return;
  fprintf(stderr, "open-close: %s: another file\n", name);
  exit(P5W_EXIT_FAILED);
}

static void iteration(void) {
  p5_begin(current);
  int file = open(names[current], O_RDONLY);
  int failed = file < 0 || close(file) != 0;
  p5_end(current);
  if (failed) p5w_fail(names[current]);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5, filesystem = DATA_DISK;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup),
                                       DATA_FILESYSTEM(filesystem),
                                       {0}};
  p5w_start(argc, argv, options);
  data_mount(filesystem);
  data_enter(directory);
  for (int i = 0; i < PARENTS; i++)
    if (mkdir(parents[i], 0700) != 0) p5w_fail(parents[i]);
  for (current = 0; current < 2; current++) create(names[current]);
  data_sync();

  for (current = 0; current < 2; current++) {
    check(names[current]);
    p5w_repeat(iteration, warmup, iterations);
  }
  for (current = 0; current < 2; current++)
    if (unlink(names[current]) != 0) p5w_fail(names[current]);
  for (int i = PARENTS - 1; i >= 0; i--)
    if (rmdir(parents[i]) != 0) p5w_fail(parents[i]);
  data_leave(directory);
  return 0;
}
