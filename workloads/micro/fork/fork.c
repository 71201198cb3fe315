// SPDX-License-Identifier: MIT
/*
 * fork: create a process that ends at once, and wait for it. Phase 0 brackets one fork, exit and
 * wait. The parent writes `pages` pages before each fork, so that these pages are copied on write.
 */
#include "child.h"

#define PAGE 4096
#define PAGES_MAX 256

static char memory[PAGES_MAX * PAGE];
static long pages = 16;

static void iteration(void) {
  for (long i = 0; i < pages; i++) memory[i * PAGE]++;
  p5_begin(0);
  pid_t child = fork();
  if (child == 0) _exit(0);
  child_wait(child);
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 2;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"pages", "pages written before each fork, at most 256", &pages, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  if (pages > PAGES_MAX) {
    fprintf(stderr, "%s: pages=%ld: at most %d\n", argv[0], pages, PAGES_MAX);
    return P5W_EXIT_USAGE;
  }

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
