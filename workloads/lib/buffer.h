/* SPDX-License-Identifier: MIT */
/*
 * Memory for the memory benchmarks. Where its pages lie decides what conflicts in a physically
 * indexed, direct-mapped cache: contiguous takes one physically contiguous buffer from /dev/p5ctr,
 * so that the caches alone decide; guest leaves it to the operating system.
 */
#ifndef P5LAB_BUFFER_H
#define P5LAB_BUFFER_H

#include <sys/mman.h>

#include "counters.h"

enum buffer_placement { BUFFER_CONTIGUOUS, BUFFER_GUEST };
static const char *const buffer_placements[] = {"contiguous", "guest", NULL};

#define BUFFER_PLACEMENT(placement) \
  {"placement", "contiguous or guest", &(placement), 0, buffer_placements}

/* `size` zeroed bytes; of a contiguous buffer at most P5CTR_BUFFER_MAX. */
static inline void *buffer_new(long placement, long size) {
  int contiguous = placement == BUFFER_CONTIGUOUS;
  int flags = contiguous ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS;
  int device = contiguous ? counters_open() : -1;
  void *memory = mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, flags, device, 0);
  if (memory == MAP_FAILED) p5w_fail("buffer");
  return memory;
}

/* The sizes of a curve: behind a power of two 1.5 times it, if that is a multiple of `grain`, then
 * the next power.
 */
static inline long buffer_next_size(long size, long grain) {
  if (size & (size - 1)) return size / 3 * 4;
  long between = size + size / 2;
  return between % grain ? size * 2 : between;
}

#endif
