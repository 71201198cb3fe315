/* SPDX-License-Identifier: MIT */
/*
 * mem-write: cycles of a write of one word, to compare with the loads of mem-read.
 *
 * The measured loop goes through an array repeatedly, from beginning to end, and writes a word
 * every `stride` bytes. If the array is in L1D, a write and the loop instructions for it take 2
 * clocks, like a load of mem-read. Phase = size of the array in bytes. One run measures all sizes
 * from `min` to `max`: each power of two and 1.5 times each power of two. Before the measurement
 * the program walks the array once.
 *
 * A write miss fills no line of L1D, so only reads fill the caches. With held=yes the program reads
 * the array first, and the caches hold as much of it as fits. With held=no it does not read the
 * array, and every write goes to memory. If an interrupt displaces lines from the cache, the writes
 * do not load these lines again. Each measurement therefore begins at a clock tick. If L1D holds
 * the array, the measurement also ends before the next tick.
 */
#include "buffer.h"

#define LINE 32

enum held { HELD, NOT_HELD };
static const char *const helds[] = {"yes", "no", NULL};

/* Not inlined, so that the warm-up fetches the same code as the measurement. */
static __attribute__((noinline)) void walk(char *array, long size, long stride, long writes) {
  uint32_t value = (uint32_t)size;
  long round = size / stride;
  for (; writes > 0; writes -= round) {
    char *place = array, *end = array + (writes < round ? writes : round) * stride;
    __asm__ volatile(
        "1:\n\t"
        "mov %[value], (%[place])\n\t"
        "add %[stride], %[place]\n\t"
        "cmp %[end], %[place]\n\t"
        "jb 1b"
        : [place] "+r"(place)
        : [value] "r"(value), [stride] "r"(stride), [end] "r"(end)
        : "memory", "cc");
  }
}

static void read_all(const volatile char *array, long size) {
  for (long i = 0; i < size; i += LINE) (void)array[i];
}

int main(int argc, char **argv) {
  long iterations = 100000, stride = 128, minimum = 512, maximum = 1L << 20, size = 0;
  long held = HELD, placement = BUFFER_CONTIGUOUS;
  const struct p5w_option options[] = {
      {"iterations", "writes per size", &iterations, 1, NULL},
      {"stride", "bytes from one write to the next, a multiple of 4", &stride, 4, NULL},
      {"min", "smallest array, bytes, a power of two", &minimum, 4, NULL},
      {"max", "largest array, bytes", &maximum, 4, NULL},
      {"size", "measure this size only, bytes", &size, 0, NULL},
      {"held", "whether the caches hold the array as far as they can", &held, 0, helds},
      BUFFER_PLACEMENT(placement),
      {0}};
  p5w_start(argc, argv, options);
  if (size) minimum = maximum = size;
  if (stride % 4 || minimum % stride || minimum > maximum) {
    fprintf(stderr,
            "%s: stride must be a multiple of 4, min of stride, and min not above max\n",
            argv[0]);
    return P5W_EXIT_USAGE;
  }

  char *array = buffer_new(placement, maximum);
  long largest = 0;
  for (size = minimum; size <= maximum; size = buffer_next_size(size, stride)) {
    p5w_await_tick();
    if (held == HELD) read_all(array, size);
    walk(array, size, stride, size / stride);
    p5_begin((uint32_t)size);
    walk(array, size, stride, iterations);
    p5_end((uint32_t)size);
    largest = size;
  }
  /* Check the array only after all writes, because the check reads it. The word that is written is
   * the size of the array.
   */
  for (long i = 0; i < largest; i += stride)
    if (*(uint32_t *)(array + i) != (uint32_t)largest) {
      fprintf(stderr, "%s: wrong word at byte %ld of %ld\n", argv[0], i, largest);
      return P5W_EXIT_FAILED;
    }
  return 0;
}
