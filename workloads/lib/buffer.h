/* SPDX-License-Identifier: MIT */
/*
 * Memory for the memory benchmarks. The placement of the pages of this memory decides which pages
 * conflict in a physically indexed, direct-mapped cache. With `contiguous`, /dev/p5ctr gives one
 * physically contiguous buffer, so that pages conflict only in a cache that is smaller than the
 * buffer. With `guest`, the operating system places the pages.
 */
#ifndef P5LAB_BUFFER_H
#define P5LAB_BUFFER_H

#include <sys/mman.h>

#include "counters.h"

enum buffer_placement { BUFFER_CONTIGUOUS, BUFFER_GUEST };
static const char *const buffer_placements[] = {"contiguous", "guest", NULL};

#define BUFFER_PLACEMENT(placement) \
  {"placement", "contiguous or guest", &(placement), 0, buffer_placements}

/* Allocate `size` zeroed bytes. A contiguous buffer has at most P5CTR_BUFFER_MAX bytes. */
static inline void *buffer_new(long placement, long size) {
  int contiguous = placement == BUFFER_CONTIGUOUS;
  int flags = contiguous ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  int device = contiguous ? counters_open() : -1;
  void *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, flags, device, 0);
  if (memory == MAP_FAILED) p5w_fail("buffer");
  return memory;
}

/* The sizes of a curve: each power of two, and after it 1.5 times this power if the product is a
 * multiple of `grain`.
 */
static inline long buffer_next_size(long size, long grain) {
  if (size & (size - 1)) return size / 3 * 4;
  long between = size + size / 2;
  return between % grain ? size * 2 : between;
}

#endif
