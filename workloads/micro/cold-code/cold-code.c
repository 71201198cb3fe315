/* SPDX-License-Identifier: MIT */
/*
 * cold-code: what does code cost that runs once, when L1I does not hold it? A piece of code has 40
 * lines of 32 bytes in one page. It runs from L1, from L2 and from main memory. Its data is in L1.
 * Phase = piece and place:
 *
 *   11 to 13  straight code: loads with effective addresses, as TOPBENCH's test of them
 *   21 to 23  a jump in each line, to the next line
 *   31 to 33  a call of the same function in each line
 *   41 to 43  a loop of three iterations in each line
 *
 * Before a run from L2, other code fills L1I. Before a run from memory, data fills L2 as well. The
 * lines of the function that measures are then cold too: they cost one or two lines more.
 */
#include "p5w.h"

#define DATA 512           /* bytes that the pieces read */
#define L2_MAX (512 << 10) /* the largest board cache of the machines */

static volatile uint32_t data[DATA / 4] __attribute__((aligned(DATA)));
static volatile uint8_t other_data[4 * L2_MAX] __attribute__((aligned(4096)));

typedef void piece(volatile uint32_t *data);

#ifdef __i386__

/* A piece: 40 times the text, which is a line of 32 bytes. EBX is the data, and ESI is 0. */
#define PIECE(name, text)                                         \
  piece piece_##name;                                             \
  __asm__(".text\n.balign 2048\npiece_" #name ":\n"               \
          "  push %ebx\n  push %esi\n"                            \
          "  mov 12(%esp), %ebx\n  xor %esi, %esi\n"              \
          "  .balign 32\n  .rept 40\n" text "\n  .endr\n"         \
          "  pop %esi\n  pop %ebx\n  ret\n");

/* Loads of 3, 6 and 4 bytes of code. */
#define SHORT "mov 4(%ebx), %eax\n"
#define LONG "mov 256(%ebx), %edx\n"
#define INDEXED "mov 8(%ebx,%esi), %ecx\n"

PIECE(straight, INDEXED INDEXED LONG INDEXED INDEXED LONG SHORT "inc %eax\n")
PIECE(jumps, SHORT SHORT "add %eax, %edx\n jmp 2f\n .fill 22, 1, 0x90\n 2:\n")
PIECE(calls, SHORT "call function\n" SHORT LONG LONG LONG SHORT)
PIECE(loops, "mov $3, %ecx\n 2: " SHORT "add %eax, %edx\n dec %ecx\n jnz 2b\n" LONG LONG LONG
             "inc %eax\n")
__asm__(".balign 32\nfunction: ret\n");

/* Executes one instruction in each of 512 lines, twice as many as L1I has. */
void fill_l1i(void);
__asm__(".text\n.balign 4096\nfill_l1i:\n  .rept 512\n  jmp 2f\n  .fill 30, 1, 0x90\n  2:\n  .endr\n"
        "  ret\n");

static const struct {
  uint32_t phase; /* of L1; the next ones are of L2 and memory */
  piece *run;
} pieces[] = {
    {11, piece_straight}, {21, piece_jumps}, {31, piece_calls}, {41, piece_loops}};
#define PIECES (sizeof(pieces) / sizeof(*pieces))

static size_t current;
static uint32_t place; /* 0: L1, 1: L2, 2: memory */

static void measure(void) {
  pieces[current].run(data);
  if (place == 2)
    for (size_t i = 0; i < sizeof(other_data); i += 32) (void)other_data[i];
  for (size_t i = 0; i < DATA / 4; i++) (void)data[i];
  if (place >= 1) fill_l1i();
  p5_begin(pieces[current].phase + place);
  pieces[current].run(data);
  p5_end(pieces[current].phase + place);
}

#endif

int main(int argc, char **argv) {
  long iterations = 3, warmup = 1;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
#ifdef __i386__
  for (size_t i = 0; i < sizeof(other_data); i += 4096) other_data[i] = 1;
  for (current = 0; current < PIECES; current++)
    for (place = 0; place < 3; place++) p5w_repeat(measure, warmup, iterations);
  return 0;
#else
  fprintf(stderr, "not a program for i386: nothing to measure\n");
  return P5W_EXIT_UNAVAILABLE;
#endif
}
