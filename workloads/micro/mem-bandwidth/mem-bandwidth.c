/* SPDX-License-Identifier: MIT */
/*
 * mem-bandwidth: reading, writing and copying buffers of growing size (lai96 section 6, figures 2
 * to 8). Phase = size of the buffer in bytes. A buffer is used repeatedly until `words` words of 4
 * bytes have been moved.
 *
 * lai96 gives the structure of its loops: an iteration moves 16 bytes, and `prefetch` loads from
 * the line to which the next writes go. The Pentium fills no line on a write miss, so the program
 * must read a line to have it in L1D before the write. The measurement depends on the instructions,
 * so this file fixes them as inline assembly. The instructions are in the order of a compiler that
 * does not schedule for two pipes. They all use one register, so that four loads and the loop's end
 * take 5 clocks, as lai96 reports.
 *
 * Before each measurement the buffers are in L2, as far as they fit, and not in L1D. Then one pass
 * runs unmeasured. If L1D held the lines of a plain write, the writes would stay in L1D. The rates
 * below 50 MB/s in lai96 show that L1D did not hold these lines.
 */
#include "buffer.h"
#include "string1995.h"

#define ITERATION 16
#define L1D_SIZE 8192 /* the size on a Pentium; a larger L1D would keep part of the buffer */
#define LINE 32
#define SPOILT 0x51515151u
#define WRITTEN 0xA7u /* the byte that all writing routines write */

typedef void mover(char *to, const char *from, long size);

static uint32_t last_read;

static void move_read(char *to, const char *from, long size) {
  const char *end = from + size;
  uint32_t word;
  (void)to;
  __asm__ volatile(
      "1:\n\t"
      "mov (%[from]), %[word]\n\t"
      "mov 4(%[from]), %[word]\n\t"
      "mov 8(%[from]), %[word]\n\t"
      "mov 12(%[from]), %[word]\n\t"
      "add $16, %[from]\n\t"
      "cmp %[end], %[from]\n\t"
      "jb 1b"
      : [from] "+r"(from), [word] "=&r"(word)
      : [end] "r"(end)
      : "memory", "cc");
  last_read = word;
}

static void move_write(char *to, const char *from, long size) {
  (void)from;
  __asm__ volatile(
      "1:\n\t"
      "mov %[word], (%[to])\n\t"
      "mov %[word], 4(%[to])\n\t"
      "mov %[word], 8(%[to])\n\t"
      "mov %[word], 12(%[to])\n\t"
      "add $16, %[to]\n\t"
      "cmp %[end], %[to]\n\t"
      "jb 1b"
      : [to] "+r"(to)
      : [end] "r"(to + size), [word] "r"(WRITTEN * 0x01010101u)
      : "memory", "cc");
}

static void move_write_prefetch(char *to, const char *from, long size) {
  uint32_t touched;
  (void)from;
  __asm__ volatile(
      "1:\n\t"
      "mov (%[to]), %[touched]\n\t"
      "mov %[word], (%[to])\n\t"
      "mov %[word], 4(%[to])\n\t"
      "mov %[word], 8(%[to])\n\t"
      "mov %[word], 12(%[to])\n\t"
      "add $16, %[to]\n\t"
      "cmp %[end], %[to]\n\t"
      "jb 1b"
      : [to] "+r"(to), [touched] "=&r"(touched)
      : [end] "r"(to + size), [word] "r"(WRITTEN * 0x01010101u)
      : "memory", "cc");
}

#define COPY_ITERATION               \
  "mov (%[from]), %[word]\n\t"       \
  "mov %[word], (%[to])\n\t"         \
  "mov 4(%[from]), %[word]\n\t"      \
  "mov %[word], 4(%[to])\n\t"        \
  "mov 8(%[from]), %[word]\n\t"      \
  "mov %[word], 8(%[to])\n\t"        \
  "mov 12(%[from]), %[word]\n\t"     \
  "mov %[word], 12(%[to])\n\t"       \
  "add $16, %[from]\n\t"             \
  "add $16, %[to]\n\t"               \
  "cmp %[end], %[from]\n\t"          \
  "jb 1b"

static void move_copy(char *to, const char *from, long size) {
  const char *end = from + size;
  uint32_t word;
  __asm__ volatile("1:\n\t" COPY_ITERATION
                   : [to] "+r"(to), [from] "+r"(from), [word] "=&r"(word)
                   : [end] "r"(end)
                   : "memory", "cc");
}

static void move_copy_prefetch(char *to, const char *from, long size) {
  const char *end = from + size;
  uint32_t word;
  __asm__ volatile("1:\n\tmov (%[to]), %[word]\n\t" COPY_ITERATION
                   : [to] "+r"(to), [from] "+r"(from), [word] "=&r"(word)
                   : [end] "r"(end)
                   : "memory", "cc");
}

static void move_memset(char *to, const char *from, long size) {
  (void)from;
  memset_1995(to, WRITTEN, (size_t)size);
}

static void move_memcpy(char *to, const char *from, long size) {
  memcpy_1995(to, from, (size_t)size);
}

enum kind { READS, WRITES, COPIES };
static const char *const routine_names[] = {"read",          "write",  "copy",  "write-prefetch",
                                            "copy-prefetch", "memset", "memcpy", NULL};
static const struct {
  mover *move;
  enum kind kind;
} routines[] = {
    {move_read, READS},
    {move_write, WRITES},
    {move_copy, COPIES},
    {move_write_prefetch, WRITES},
    {move_copy_prefetch, COPIES},
    {move_memset, WRITES},
    {move_memcpy, COPIES},
};

static uint32_t source_word(long i) { return 0x9E3779B9u * (uint32_t)(i + 1); }

static void fill(char *from, char *to, long size) {
  for (long i = 0; i < size / 4; i++) {
    ((uint32_t *)to)[i] = SPOILT;
    ((uint32_t *)from)[i] = source_word(i);
  }
}

/* Read the buffers to bring them into L2. Then read other data of L1D's size to remove the buffers
 * from L1D.
 */
static void settle(const char *from, const char *to, long size) {
  static volatile char other[L1D_SIZE];
  for (long i = 0; i < size; i += LINE)
    (void)*(const volatile char *)(to + i), (void)*(const volatile char *)(from + i);
  for (long i = 0; i < L1D_SIZE; i += LINE) other[i] = 1; /* own pages, not the zero page */
  for (long i = 0; i < L1D_SIZE; i += LINE) (void)other[i];
}

/* Not inlined, so that the warm-up fetches the same code as the measurement. */
static __attribute__((noinline)) void repeat(mover *move, char *to, const char *from, long size,
                                             long bytes) {
  for (; bytes > size; bytes -= size) move(to, from, size);
  move(to, from, bytes);
}

/* Check the result of the routine. Its last pass moved `last` bytes. */
static int is_right(enum kind kind, const char *from, const char *to, long size, long last) {
  if (kind == READS) return last_read == source_word(last / 4 - 1);
  for (long i = 0; i < size / 4; i++) {
    uint32_t expected = kind == COPIES ? source_word(i) : WRITTEN * 0x01010101u;
    if (((const uint32_t *)to)[i] != expected) return 0;
    if (kind == COPIES && ((const uint32_t *)from)[i] != expected) return 0;
  }
  return 1;
}

int main(int argc, char **argv) {
  long words = 2L << 20, minimum = 32, maximum = 4L << 20, size = 0;
  long routine = 0, placement = BUFFER_CONTIGUOUS;
  const struct p5w_option options[] = {
      {"routine", "what moves the words", &routine, 0, routine_names},
      {"words", "words of 4 bytes moved per size, a multiple of 4", &words, ITERATION / 4, NULL},
      {"min", "smallest buffer, bytes, a power of two", &minimum, 2 * ITERATION, NULL},
      {"max", "largest buffer, bytes", &maximum, 2 * ITERATION, NULL},
      {"size", "measure this size only, bytes, a multiple of 16", &size, 0, NULL},
      BUFFER_PLACEMENT(placement),
      {0}};
  p5w_start(argc, argv, options);
  if (size) minimum = maximum = size;
  if (words % (ITERATION / 4) || minimum % ITERATION || minimum > maximum ||
      (!size && minimum & (minimum - 1))) {
    fprintf(stderr,
            "%s: words must be a multiple of %d, min a power of two or size a multiple of %d, and "
            "min not above max\n",
            argv[0], ITERATION / 4, ITERATION);
    return P5W_EXIT_USAGE;
  }

  mover *move = routines[routine].move;
  enum kind kind = routines[routine].kind;
  /* The destination follows its source directly, so that they do not conflict in a cache that holds
   * both. If source and destination do not fit into the first buffer, they also do not fit into a
   * cache, and the destination is a separate buffer.
   */
  long pair = 2 * maximum < P5CTR_BUFFER_MAX ? 2 * maximum : P5CTR_BUFFER_MAX;
  char *first = buffer_new(placement, kind == COPIES && pair > maximum ? pair : maximum);
  char *second = kind == COPIES && 2 * maximum > pair ? buffer_new(placement, maximum) : NULL;
  for (size = minimum; size <= maximum; size = buffer_next_size(size, ITERATION)) {
    char *to = kind != COPIES ? first : 2 * size <= pair ? first + size : second;
    long last = (words * 4 - 1) % size + 1;
    fill(first, to, size);
    settle(first, to, size);
    repeat(move, to, first, size, size);
    p5_begin((uint32_t)size);
    repeat(move, to, first, size, words * 4);
    p5_end((uint32_t)size);
    if (!is_right(kind, first, to, size, last)) {
      fprintf(stderr, "%s: %s of %ld bytes left wrong data\n", argv[0], routine_names[routine],
              size);
      return P5W_EXIT_FAILED;
    }
  }
  return 0;
}
