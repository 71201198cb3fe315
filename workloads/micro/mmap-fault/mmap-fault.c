// SPDX-License-Identifier: MIT
/*
 * mmap-fault: the first write to a page of fresh anonymous memory. Phase 0 brackets one write to
 * each of `pages` pages. mmap() and munmap() are outside of the bracket.
 */
#include <sys/mman.h>

#include "p5w.h"

#define PAGE 4096

static long pages = 64;

static void iteration(void) {
  size_t size = (size_t)pages * PAGE;
  volatile char *memory =
      mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) p5w_fail("mmap");
  p5_begin(0);
  for (size_t offset = 0; offset < size; offset += PAGE) memory[offset] = 1;
  p5_end(0);
  munmap((void *)memory, size);
}

int main(int argc, char **argv) {
  long iterations = 10, warmup = 2;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup),
                                       {"pages", "pages an iteration", &pages, 1, NULL},
                                       {0}};
  p5w_start(argc, argv, options);

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
