// SPDX-License-Identifier: MIT
/*
 * forkexec: the load for measuring the simulator's own speed. It causes page faults, copies and
 * switches of address spaces as fast as the guest can. Phase 0 brackets the whole loop. Each
 * iteration forks a child. The child writes to `pages` pages and executes a trivial program.
 */
#include "child.h"

#define PAGE 4096
#define PAGES_MAX 256

static char memory[PAGES_MAX * PAGE];

static void touch(long pages) {
  for (long page = 0; page < pages; page++) ((volatile char *)memory)[page * PAGE]++;
}

static void run(const char *program, long pages) {
  char *const arguments[] = {(char *)program, NULL};
  char *const environment[] = {NULL};
  pid_t child = fork();
  if (child == 0) {
    touch(pages);
    execve(program, arguments, environment);
    _exit(127);
  }
  child_wait(child);
}

int main(int argc, char **argv) {
  long iterations = 1000, warmup = 2, pages = 16;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"pages", "pages that parent and child both write, at most 256", &pages, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  if (pages > PAGES_MAX) {
    fprintf(stderr, "%s: pages=%ld: at most %d\n", argv[0], pages, PAGES_MAX);
    return P5W_EXIT_USAGE;
  }
  const char *program = child_path(argv[0], CHILD_NAME);

  touch(pages);
  for (long i = 0; i < warmup; i++) run(program, pages);
  p5_begin(0);
  for (long i = 0; i < iterations; i++) run(program, pages);
  p5_end(0);
  return 0;
}
