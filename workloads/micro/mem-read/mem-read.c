// SPDX-License-Identifier: MIT
/*
 * mem-read: cycles of a load that depends on the previous load (chen95 section 4.4, figure 4).
 *
 * Each pointer of an array points to the pointer `stride` bytes further, and the last pointer
 * points to the first. The measured loop follows the pointers with one instruction per load. The
 * loop is unrolled UNROLL times. Phase = size of the array in bytes. One run measures all sizes
 * from `min` to `max`: each power of two and 1.5 times each power of two. Before the measurement
 * the program walks the array twice, so that the measured pass starts with caches and TLBs in the
 * steady state.
 */
#include "buffer.h"

#define UNROLL 1000
#define STRING(x) #x
#define EXPANDED_STRING(x) STRING(x)

/* a[i] = &a[(i + stride) mod size] for every i. */
static void make_chain(void **array, long size, long stride) {
  long count = size / (long)sizeof(void *), step = stride / (long)sizeof(void *);
  for (long i = 0; i < count; i++) array[i] = &array[(i + step) % count];
}

/* Follow the chain for `loads` loads, a multiple of UNROLL. Returns the last pointer. Not inlined,
 * so that the warm-up fetches the same code as the measurement.
 */
static __attribute__((noinline)) void *follow(void *place, long loads) {
  for (long i = loads / UNROLL; i > 0; i--)
    __asm__ volatile(".rept " EXPANDED_STRING(UNROLL) "\n\tmov (%0), %0\n\t.endr"
                     : "+r"(place)
                     :
                     : "memory");
  return place;
}

/* Follow the chain through the whole array once, or a little more. */
static void *walk(void *place, long size, long stride) {
  return follow(place, (size / stride + UNROLL - 1) / UNROLL * UNROLL);
}

static void measure(void **array, long size, long stride, long iterations) {
  make_chain(array, size, stride);
  void *place = walk(walk(array, size, stride), size, stride);
  p5_begin((uint32_t)size);
  follow(place, iterations);
  p5_end((uint32_t)size);
}

int main(int argc, char **argv) {
  long iterations = 1000000, stride = 128, minimum = 512, maximum = 1L << 20, size = 0;
  long placement = BUFFER_CONTIGUOUS;
  const struct p5w_option options[] = {
      {"iterations", "loads per size, a multiple of 1000", &iterations, UNROLL, NULL},
      {"stride", "bytes from one load to the next", &stride, sizeof(void *), NULL},
      {"min", "smallest array, bytes, a power of two", &minimum, 2 * sizeof(void *), NULL},
      {"max", "largest array, bytes", &maximum, 2 * sizeof(void *), NULL},
      {"size", "measure this size only, bytes", &size, 0, NULL},
      BUFFER_PLACEMENT(placement),
      {0}};
  p5w_start(argc, argv, options);
  if (size) minimum = maximum = size;
  if (iterations % UNROLL || stride % (long)sizeof(void *) || minimum % stride ||
      minimum > maximum) {
    fprintf(stderr,
            "%s: iterations must be a multiple of %d, stride of the pointer size, min of "
            "stride, and min not above max\n",
            argv[0], UNROLL);
    return P5W_EXIT_USAGE;
  }

  void **array = buffer_new(placement, maximum);
  for (size = minimum; size <= maximum; size = buffer_next_size(size, stride))
    measure(array, size, stride, iterations);
  return 0;
}
