/* SPDX-License-Identifier: MIT */
/*
 * copy-routines: the three user-level memory copies of talagala97's appendix. Phase = bytes of a
 * copy.
 *
 *   libc     rep movsl, as in the C library (listing A1)
 *   integer  64 bytes per iteration through integer registers; the iteration first reads from the
 *            two lines that the next iteration needs (A2)
 *   float    blocks of 1792 bytes: it first reads from every line of the source, then moves 64
 *            bytes per iteration through the eight floating-point registers, which hold 64-bit
 *            integers exactly (A3)
 *
 * The program copies a region of `region` bytes piece by piece to a second region. It repeats this
 * until it has copied `words` words of 4 bytes. If the regions are larger than the caches, the data
 * of each copy come from memory. The paper does not state whether its data were in a cache or in
 * memory. Two facts suggest that the data came from memory. Reading a line ahead brings no gain if
 * the source is in L1D. The paper's rate for libc, 40 MB/s, is also the rate of copies from memory
 * to memory on such boards (lmbench: FreeBSD on the i586, 40 to 42 MB/s).
 *
 * The measurement depends on the instructions, so they are the same as in the listings.
 */
#include "buffer.h"
#include "string1995.h"

#define STEP 64        /* bytes per iteration of integer and float */
#define LINE 32
#define TOUCHED 256    /* bytes per iteration of the loop of float that reads ahead */
#define BLOCK 1792     /* 2 KB minus 256 bytes (A3) */

typedef void copier(char *to, const char *from, long size);

static void copy_libc(char *to, const char *from, long size) {
  memcpy_1995(to, from, (size_t)size);
}

#define MOVE_TWO_WORDS(at, next)              \
  "mov " at "(%[from]), %[one]\n\t"           \
  "mov " next "(%[from]), %[other]\n\t"       \
  "mov %[one], " at "(%[to])\n\t"             \
  "mov %[other], " next "(%[to])\n\t"

static void copy_integer(char *to, const char *from, long size) {
  if (size >= STEP) {
    uint32_t one, other;
    __asm__ volatile(
        "1:\n\t"
        "mov 32(%[from]), %[one]\n\t"
        "cmp $68, %[left]\n\t"
        "jb 2f\n\t"
        "mov 64(%[from]), %[one]\n"
        "2:\n\t"
        MOVE_TWO_WORDS("0", "4")
        MOVE_TWO_WORDS("8", "12")
        MOVE_TWO_WORDS("16", "20")
        MOVE_TWO_WORDS("24", "28")
        MOVE_TWO_WORDS("32", "36")
        MOVE_TWO_WORDS("40", "44")
        MOVE_TWO_WORDS("48", "52")
        MOVE_TWO_WORDS("56", "60")
        "sub $64, %[left]\n\t"
        "add $64, %[from]\n\t"
        "add $64, %[to]\n\t"
        "cmp $64, %[left]\n\t"
        "jae 1b"
        : [to] "+r"(to), [from] "+r"(from), [left] "+r"(size), [one] "=&r"(one),
          [other] "=&r"(other)
        :
        : "memory", "cc");
  }
  memcpy_1995(to, from, (size_t)size);
}

/* Read a byte of every line of a block. Only whole pieces of 256 bytes are read. */
static inline void touch(const char *from, long size) {
  uint8_t byte;
  __asm__ volatile(
      "1:\n\t"
      "movb (%[from]), %[byte]\n\t"
      "movb 32(%[from]), %[byte]\n\t"
      "movb 64(%[from]), %[byte]\n\t"
      "movb 96(%[from]), %[byte]\n\t"
      "movb 128(%[from]), %[byte]\n\t"
      "movb 160(%[from]), %[byte]\n\t"
      "movb 192(%[from]), %[byte]\n\t"
      "movb 224(%[from]), %[byte]\n\t"
      "add $256, %[from]\n\t"
      "sub $256, %[size]\n\t"
      "cmp $256, %[size]\n\t"
      "jae 1b"
      : [from] "+r"(from), [size] "+r"(size), [byte] "=&q"(byte)
      :
      : "memory", "cc");
}

static void copy_float(char *to, const char *from, long size) {
  while (size >= STEP) {
    long chunk = size < BLOCK ? size : BLOCK, rest = size - chunk;
    if (chunk >= TOUCHED) touch(from, chunk);
    __asm__ volatile(
        "1:\n\t"
        "fildq (%[from])\n\t"
        "fildq 8(%[from])\n\t"
        "fildq 16(%[from])\n\t"
        "fildq 24(%[from])\n\t"
        "fildq 32(%[from])\n\t"
        "fildq 40(%[from])\n\t"
        "fildq 48(%[from])\n\t"
        "fildq 56(%[from])\n\t"
        "fistpq 56(%[to])\n\t"
        "fistpq 48(%[to])\n\t"
        "fistpq 40(%[to])\n\t"
        "fistpq 32(%[to])\n\t"
        "fistpq 24(%[to])\n\t"
        "fistpq 16(%[to])\n\t"
        "fistpq 8(%[to])\n\t"
        "fistpq (%[to])\n\t"
        "sub $64, %[chunk]\n\t"
        "add $64, %[from]\n\t"
        "add $64, %[to]\n\t"
        "cmp $64, %[chunk]\n\t"
        "jae 1b"
        : [to] "+r"(to), [from] "+r"(from), [chunk] "+r"(chunk)
        :
        : "memory", "cc", "st", "st(1)", "st(2)", "st(3)", "st(4)", "st(5)", "st(6)", "st(7)");
    size = chunk + rest;
  }
  memcpy_1995(to, from, (size_t)size);
}

static copier *const copiers[] = {copy_libc, copy_integer, copy_float};
static const char *const copier_names[] = {"libc", "integer", "float", NULL};

/* Not inlined, so that the warm-up fetches the same code as the measurement. */
static __attribute__((noinline)) void walk(copier *copy, char *to, const char *from, long region,
                                           long size, long bytes) {
  long place = 0;
  for (; bytes > 0; bytes -= size) {
    copy(to + place, from + place, size < bytes ? size : bytes);
    place += size;
    if (place + size > region) place = 0;
  }
}

static uint32_t source_word(long i) { return 0x9E3779B9u * (uint32_t)(i + 1); }

int main(int argc, char **argv) {
  long words = 1L << 20, minimum = 32, maximum = 1L << 20, size = 0, region = 2L << 20;
  long routine = 0, placement = BUFFER_CONTIGUOUS;
  const struct p5w_option options[] = {
      {"routine", "what copies", &routine, 0, copier_names},
      {"words", "words of 4 bytes copied per size", &words, 1, NULL},
      {"min", "smallest copy, bytes", &minimum, 4, NULL},
      {"max", "largest copy, bytes", &maximum, 4, NULL},
      {"size", "measure this size only, bytes, a multiple of 4", &size, 0, NULL},
      {"region", "bytes that are copied piece by piece", &region, 4, NULL},
      BUFFER_PLACEMENT(placement),
      {0}};
  p5w_start(argc, argv, options);
  if (size) minimum = maximum = size;
  if (minimum % 4 || minimum > maximum || maximum > region || region % 4) {
    fprintf(stderr,
            "%s: min, max and region must be multiples of 4, min not above max, max not above "
            "region\n",
            argv[0]);
    return P5W_EXIT_USAGE;
  }

  char *from = buffer_new(placement, 2 * region), *to = from + region;
  for (size = minimum; size <= maximum; size *= 2) {
    long copied = region / size * size;
    for (long i = 0; i < region / 4; i++) {
      ((uint32_t *)from)[i] = source_word(i);
      ((uint32_t *)to)[i] = 0;
    }
    walk(copiers[routine], to, from, region, size, copied);
    p5_begin((uint32_t)size);
    walk(copiers[routine], to, from, region, size, words * 4);
    p5_end((uint32_t)size);
    for (long i = 0; i < copied / 4; i++)
      if (((uint32_t *)to)[i] != source_word(i) || ((uint32_t *)from)[i] != source_word(i)) {
        fprintf(stderr, "%s: %s of %ld bytes: wrong word at byte %ld\n", argv[0],
                copier_names[routine], size, 4 * i);
        return P5W_EXIT_FAILED;
      }
  }
  return 0;
}
