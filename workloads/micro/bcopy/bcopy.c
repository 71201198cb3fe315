/* SPDX-License-Identifier: MIT */
/*
 * bcopy: copy aligned blocks by the routine of a C library of 1995 (ousterhout90 table 5). In
 * phase 0 both blocks are in the cache. In phase 1 both blocks are much larger than the cache. A
 * bracket repeats the copy between the same two blocks until it has moved `words` words of 4 bytes.
 *
 * The Pentium fills no line on a write miss, so a block is not in a cache if the program has only
 * written it. The program therefore reads both blocks to compare them, after an unmeasured copy and
 * before the measured copies.
 */
#include "buffer.h"
#include "string1995.h"

#define WORD 4
#define LINE 32

static uint32_t source_word(long i, uint32_t key) { return (key + 0x9E3779B9u) * (uint32_t)(i + 1); }

static void fill(uint32_t *block, long size, uint32_t key) {
  for (long i = 0; i < size / WORD; i++) block[i] = source_word(i, key);
}

/* Not inlined, so that the warm-up fetches the same code as the measurement. */
static __attribute__((noinline)) void copy(char *to, const char *from, long size, long bytes) {
  for (; bytes > 0; bytes -= size) memcpy_1995(to, from, (size_t)size);
}

static void check(const uint32_t *from, const uint32_t *to, long size, uint32_t key) {
  for (long i = 0; i < size / WORD; i++)
    if (to[i] != source_word(i, key) || from[i] != source_word(i, key)) {
      fprintf(stderr, "bcopy: blocks of %ld bytes: wrong word at byte %ld\n", size, i * WORD);
      exit(P5W_EXIT_FAILED);
    }
}

static void measure(uint32_t phase, char *from, long size, long bytes) {
  char *to = from + size;
  fill((uint32_t *)from, size, 0);
  copy(to, from, size, size);
  check((uint32_t *)from, (uint32_t *)to, size, 0);
  fill((uint32_t *)from, size, 1); /* the contents that the measured copies must move */
  p5_begin(phase);
  copy(to, from, size, bytes);
  p5_end(phase);
  check((uint32_t *)from, (uint32_t *)to, size, 1);
}

int main(int argc, char **argv) {
  long words = 512L << 10, cached = 2048, uncached = 1L << 20, placement = BUFFER_GUEST;
  const struct p5w_option options[] = {
      {"words", "words of 4 bytes copied in each phase", &words, 1, NULL},
      {"cached", "bytes of a block that is in the cache", &cached, LINE, NULL},
      {"uncached", "bytes of one that is not", &uncached, LINE, NULL},
      BUFFER_PLACEMENT(placement),
      {0}};
  p5w_start(argc, argv, options);
  if (cached % LINE || uncached % LINE || words * WORD % cached || words * WORD % uncached) {
    fprintf(stderr, "%s: both blocks must be multiples of %d bytes, and words of whole blocks\n",
            argv[0], LINE);
    return P5W_EXIT_USAGE;
  }
  char *blocks = buffer_new(placement, 2 * (cached > uncached ? cached : uncached));
  measure(0, blocks, cached, words * WORD);
  measure(1, blocks, uncached, words * WORD);
  return 0;
}
