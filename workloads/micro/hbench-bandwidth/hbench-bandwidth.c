/* SPDX-License-Identifier: MIT */
/*
 * hbench-bandwidth: reading and writing buffers of three sizes, as HBench-OS does (brown97 section
 * 2.5, figure 3). Phase = size of the buffer in bytes.
 *
 * The C files of that benchmark access the words of a buffer by constant offsets from a pointer,
 * and move the pointer after 20 words. A compiler makes one instruction for each word: `add r,m` if
 * the words are added up, `mov m,imm` if they are written. Neither of these instructions pairs with
 * the same instruction for the next word. The measurement depends on the instructions, so this file
 * fixes them as inline assembly. An iteration accesses 200 words, and a pass over the buffer makes
 * whole iterations.
 *
 * HBench-OS never reads a buffer that it writes. The Pentium and both chip sets fill no line on a
 * write miss, so all its writes go to memory, also into a small buffer. The buffers of this program
 * therefore lie one behind the other, and no buffer is read before its measurement, except by
 * `read`.
 */
#include "buffer.h"

#define WORD 4
#define ITERATION 800 /* bytes: 200 words */

typedef void mover(char *from, long size);

static uint32_t total;

#define READ(at) "add " #at "(%[place]), %[sum]\n\t"
#define READ_20                                                                                 \
  "mov (%[place]), %[sum]\n\t" READ(4) READ(8) READ(12) READ(16) READ(20) READ(24) READ(28)     \
      READ(32) READ(36) READ(40) READ(44) READ(48) READ(52) READ(56) READ(60) READ(64) READ(68) \
          READ(72) READ(76) "add %[sum], %[all]\n\tadd $80, %[place]\n\t"

static void move_read(char *place, long size) {
  uint32_t sum, all = 0;
  __asm__ volatile("1:\n\t.rept 10\n\t" READ_20 ".endr\n\tcmp %[end], %[place]\n\tjb 1b"
                   : [place] "+r"(place), [sum] "=&r"(sum), [all] "+r"(all)
                   : [end] "r"(place + size)
                   : "memory", "cc");
  total = all;
}

#define WRITE(at) "movl $1, " #at "(%[place])\n\t"
#define WRITE_20                                                                                  \
  "movl $1, (%[place])\n\t" WRITE(4) WRITE(8) WRITE(12) WRITE(16) WRITE(20) WRITE(24) WRITE(28)   \
      WRITE(32) WRITE(36) WRITE(40) WRITE(44) WRITE(48) WRITE(52) WRITE(56) WRITE(60) WRITE(64)   \
          WRITE(68) WRITE(72) WRITE(76) "add $80, %[place]\n\t"

static void move_write(char *place, long size) {
  __asm__ volatile("1:\n\t.rept 10\n\t" WRITE_20 ".endr\n\tcmp %[end], %[place]\n\tjb 1b"
                   : [place] "+r"(place)
                   : [end] "r"(place + size)
                   : "memory", "cc");
}

enum routine { READS, WRITES };
static const char *const routine_names[] = {"read", "write", NULL};
static mover *const movers[] = {move_read, move_write};

/* Not inlined, so that the warm-up fetches the same code as the measurement. */
static __attribute__((noinline)) void repeat(mover *move, char *buffer, long size, long bytes) {
  for (; bytes > size; bytes -= size) move(buffer, size);
  move(buffer, bytes);
}

static uint32_t word_at(long i) { return (uint32_t)i % 7; }

static void measure(enum routine routine, uint32_t *buffer, long bytes, long words) {
  long size = bytes / ITERATION * ITERATION;
  for (long i = 0; i < size / WORD; i++) buffer[i] = word_at(i);
  repeat(movers[routine], (char *)buffer, size, size);
  p5_begin((uint32_t)bytes);
  repeat(movers[routine], (char *)buffer, size, words * WORD);
  p5_end((uint32_t)bytes);
  /* The last pass of `read` gives a sum. `write` has changed every word. */
  uint32_t wrong = 0, sum = 0;
  for (long i = 0; i < size / WORD; i++) wrong += buffer[i] != (routine == READS ? word_at(i) : 1);
  for (long i = 0; i < ((words * WORD - 1) % size + 1) / WORD; i++) sum += word_at(i);
  if (wrong || (routine == READS && sum != total)) {
    fprintf(stderr, "hbench-bandwidth: %s of %ld bytes: wrong words\n", routine_names[routine],
            bytes);
    exit(P5W_EXIT_FAILED);
  }
}

int main(int argc, char **argv) {
  static const long sizes[] = {4L << 10, 64L << 10, 3L << 20, 0};
  long words = 1000000, routine = READS, placement = BUFFER_CONTIGUOUS, length = 0;
  const struct p5w_option options[] = {
      {"routine", "read or write", &routine, 0, routine_names},
      {"words", "words of 4 bytes moved per size, a multiple of 200", &words, ITERATION / WORD,
       NULL},
      BUFFER_PLACEMENT(placement),
      {0}};
  p5w_start(argc, argv, options);
  if (words % (ITERATION / WORD)) {
    fprintf(stderr, "%s: words must be a multiple of %d\n", argv[0], ITERATION / WORD);
    return P5W_EXIT_USAGE;
  }

  for (const long *size = sizes; *size; size++) length += *size;
  char *buffer = buffer_new(placement, length);
  for (const long *size = sizes; *size; buffer += *size++)
    measure((enum routine)routine, (uint32_t *)buffer, *size, words);
  return 0;
}
