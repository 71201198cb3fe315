/* SPDX-License-Identifier: MIT */
/*
 * The placement seed decides which physical pages later processes get.
 *
 * A kernel that has just booted allocates memory in one long run of neighbouring pages.
 * Neighbouring pages are the best case for a physically indexed cache. With a seed of 1 or more, a
 * process first allocates and frees memory in an order that depends on the seed. On the same
 * kernel, the same seed leaves the same free pages. The process writes SEED_PAGES pages (4 MB) in
 * order, so that these pages are neighbours. The process then goes through the pairs of neighbours
 * in random order, and frees one random page of each pair. The process keeps the other half (2 MB)
 * for the rest of the run, so that the allocator cannot join the free pages to larger blocks.
 * Memory, stacks and files of later processes then use the scattered pages. The last freed page is
 * used first. The kernel, its tables and the programs of the RAM disk stay where they are.
 *
 * Random numbers are xorshift32 (13, 17, 5; G. Marsaglia, Xorshift RNGs, 2003) from seed *
 * 2654435761.
 */
#ifndef P5LAB_SEED_H
#define P5LAB_SEED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>

#define SEED_PAGE 4096
#define SEED_PAGES 1024

static inline uint32_t seed_draw(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

/* Scatter the free pages as described above. Seed 0 changes nothing. Returns 0, or -1 with errno.
 */
static inline int seed_placement(uint32_t seed) {
  static uint16_t order[SEED_PAGES / 2];
  if (seed == 0) return 0;
  size_t size = (size_t)SEED_PAGES * SEED_PAGE;
  char *pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return -1;
  /* Children do not inherit these pages, because each fork would then cost more. */
  if (madvise(pages, size, MADV_DONTFORK) != 0) return -1;
  for (size_t offset = 0; offset < size; offset += SEED_PAGE) pages[offset] = 1;

  uint32_t state = seed * 2654435761u; /* odd factor: only seed 0 gives 0 */
  for (uint32_t i = 0; i < SEED_PAGES / 2; i++) {
    uint32_t other = seed_draw(&state) % (i + 1);
    order[i] = order[other];
    order[other] = (uint16_t)i;
  }
  for (uint32_t i = 0; i < SEED_PAGES / 2; i++) {
    size_t page = 2u * order[i] + (seed_draw(&state) >> 31);
    if (madvise(pages + page * SEED_PAGE, SEED_PAGE, MADV_DONTNEED) != 0) return -1;
  }
  return 0;
}

#endif
