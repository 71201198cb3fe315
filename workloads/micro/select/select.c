// SPDX-License-Identifier: MIT
/*
 * select: find out, without waiting, which of several pipes contain data (ousterhout90 table 4).
 * Phase 0 has one empty pipe, and phase 1 has ten empty pipes. Phase 2 has ten pipes with one byte
 * in each; the paper calls these pipes full. A bracket contains one call with a time-out of zero.
 * The set of pipes is prepared before each bracket, because a call overwrites it.
 */
#include <sys/select.h>
#include <unistd.h>

#include "p5w.h"

#define PIPES 10

static const struct {
  int pipes, full;
} cases[] = {{1, 0}, {PIPES, 0}, {PIPES, 1}};

static int readers[PIPES], writers[PIPES];
static unsigned current; /* number of the current case and phase */
static int width;        /* one more than the highest descriptor in the set */
static fd_set asked;

static void iteration(void) {
  fd_set ready = asked;
  struct timeval now = {0, 0};
  p5_begin(current);
  int found = select(width, &ready, NULL, NULL, &now);
  p5_end(current);
  if (found < 0) p5w_fail("select");
  int expected = cases[current].full ? cases[current].pipes : 0, seen = 0;
  for (int i = 0; i < cases[current].pipes; i++) seen += FD_ISSET(readers[i], &ready) != 0;
  if (found == expected && seen == expected) return;
  fprintf(stderr, "select: %d of %d pipes can be read; it says %d and marks %d\n", expected,
          cases[current].pipes, found, seen);
  exit(P5W_EXIT_FAILED);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  for (int i = 0; i < PIPES; i++) {
    int ends[2];
    if (pipe(ends) != 0) p5w_fail("pipe");
    readers[i] = ends[0], writers[i] = ends[1];
  }
  for (current = 0; current < sizeof(cases) / sizeof(*cases); current++) {
    FD_ZERO(&asked);
    for (int i = 0; i < cases[current].pipes; i++) {
      FD_SET(readers[i], &asked);
      width = readers[i] + 1;
      if (cases[current].full && write(writers[i], "", 1) != 1) p5w_fail("pipe: write");
    }
    p5w_repeat(iteration, warmup, iterations);
  }
  return 0;
}
