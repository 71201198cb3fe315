/* SPDX-License-Identifier: MIT */
/*
 * Short instruction sequences, unrolled in a loop, so that the clocks of one copy can be measured
 * exactly. For i386. On other machines, programs with sequences end with P5W_EXIT_UNAVAILABLE.
 *
 * SEQUENCE(number, copies, loops, text) defines sequence_NUMBER(). Its loop is
 *
 *   9: notl %edi; TEXT; notl %edi; TEXT; ... notl %edi; decl %ebp; jnz 9b
 *
 * NOT pairs with no instruction and does not change the flags, so the copies of the text do not
 * influence each other. The other sequences are compared with a sequence without text. The text
 * finds this state:
 *   - EBX and ESI point to different places of sequence_memory.
 *   - EAX, ECX and EDX are free. EDI is free between two NOTs. EBP counts the loops.
 *   - ST to ST(3) are 1.0.
 *   - The flags show a result above zero.
 * The text must not change ESP, EBX and ESI. It may use labels 2 to 6.
 */
#ifndef P5LAB_SEQUENCE_H
#define P5LAB_SEQUENCE_H

#include "p5w.h"

#define SEQUENCE_MEMORY 1024
#define SEQUENCE_ESI 128    /* offset to which ESI points; EBX points to the beginning */
#define SEQUENCE_SELF 64    /* the memory's own address is at this offset */
#define SEQUENCE_FLOATS 512 /* words from here on are 1.0; words before are the integer 1 */

/* The argument of sequence_NUMBER(). The function runs its loop `rounds` times, each time from the
 * same registers. Only the last round has markers. The earlier rounds have trained the predictor,
 * and no other code runs between the rounds.
 */
struct sequence_call {
  uint32_t eax, ecx, edx, ebx, esi;
  uint32_t leaf, phase; /* operands of the markers; leaf 0 is an ordinary CPUID */
  uint32_t last_leaf, rounds;
  uint32_t end[3]; /* EAX, ECX and EDX at the end */
};

struct sequence {
  uint32_t phase;
  const char *name;
  struct sequence_call start; /* EAX, ECX and EDX */
  void (*run)(struct sequence_call *);
};

static uint32_t sequence_memory[SEQUENCE_MEMORY / 4] __attribute__((aligned(SEQUENCE_MEMORY)));

#ifdef __i386__

/* The markers are here and not around the call, so that the loop's branch is the only branch in a
 * bracket. On a real host the markers are functions, and sequence_run() calls them.
 */
#ifdef P5LAB_NATIVE
#define SEQUENCE_MARKER(operation) ""
#else
#define SEQUENCE_MARKER(operation)     \
  "  movl 20(%edi), %eax\n"            \
  "  movl $" operation ", %ecx\n"      \
  "  movl 24(%edi), %edx\n"            \
  "  cpuid\n"
#endif

__asm__(
    ".macro sequence_begin loops\n"
    "  pushal\n"
    "  movl 36(%esp), %edi\n"
    "  pushl %edi\n"
    "8:\n"
    "  .irp depth, 32, 64, 96\n" /* the text's stack is now in the cache */
    "    movl -\\depth(%esp), %eax\n"
    "  .endr\n"
    "  fninit\n"
    "  .rept 4\n"
    "    fld1\n"
    "  .endr\n"
    "  cmpl $1, 32(%edi)\n" /* rounds */
    "  jne 7f\n"
    "  movl 28(%edi), %eax\n" /* last_leaf */
    "  movl %eax, 20(%edi)\n"
    "7:\n" SEQUENCE_MARKER("2") /* P5_OP_BEGIN */
    "  movl (%edi), %eax\n"
    "  movl 4(%edi), %ecx\n"
    "  movl 8(%edi), %edx\n"
    "  movl 12(%edi), %ebx\n"
    "  movl 16(%edi), %esi\n"
    "  movl $\\loops, %ebp\n"
    "  testl %ebp, %ebp\n"
    "  .balign 32\n"
    "9:\n"
    ".endm\n"
    ".macro sequence_end\n"
    "  notl %edi\n"
    "  decl %ebp\n"
    "  jnz 9b\n"
    "  movl (%esp), %edi\n"
    "  movl %eax, 36(%edi)\n"
    "  movl %ecx, 40(%edi)\n"
    "  movl %edx, 44(%edi)\n" SEQUENCE_MARKER("3") /* P5_OP_END */
    "  decl 32(%edi)\n"
    "  jnz 8b\n"
    "  fninit\n"
    "  popl %edi\n"
    "  popal\n"
    "  ret\n"
    ".endm\n");

#define SEQUENCE(number, copies, loops, text) \
  SEQUENCE_RAW(number, loops, ".rept " #copies "\n  notl %edi\n  " text "\n.endr\n")
/* Like SEQUENCE, but `body` is the whole body of the loop. */
#define SEQUENCE_RAW(number, loops, body)                                              \
  void sequence_##number(struct sequence_call *);                                      \
  __asm__(".text\n.balign 64\nsequence_" #number ":\nsequence_begin " #loops "\n" body \
          "sequence_end\n");
#define SEQUENCE_RUN(number) sequence_##number

#else

#define SEQUENCE(number, copies, loops, text)
#define SEQUENCE_RAW(number, loops, body)
#define SEQUENCE_RUN(number) NULL

#endif

static const struct sequence *sequence_current;
static uint32_t sequence_expected; /* result of the first pass of the current sequence */
static int sequence_passes;

/* Run `rounds` rounds of the current sequence. Each round begins with the same registers and
 * memory. The last round is measured, as the phase of the sequence. Returns a sum of the results.
 */
static __attribute__((noinline)) uint32_t sequence_run(uint32_t rounds) {
  for (int i = 0; i < SEQUENCE_MEMORY / 4; i++)
    sequence_memory[i] = i < SEQUENCE_FLOATS / 4 ? 1 : 0x3F800000;
  sequence_memory[SEQUENCE_SELF / 4] = (uint32_t)(uintptr_t)sequence_memory;
  struct sequence_call call = sequence_current->start;
  call.ebx = (uint32_t)(uintptr_t)sequence_memory;
  call.esi = call.ebx + SEQUENCE_ESI;
  call.phase = sequence_current->phase;
  call.last_leaf = p5_marker_enabled ? P5_MARKER_LEAF : 0;
  call.rounds = rounds;
#ifdef P5LAB_NATIVE
  p5_begin(call.phase);
#endif
  sequence_current->run(&call);
#ifdef P5LAB_NATIVE
  p5_end(call.phase);
#endif
  uint32_t sum = call.end[0] ^ call.end[1] << 1 ^ call.end[2] << 2;
  for (int i = 0; i < SEQUENCE_MEMORY / 4; i++) sum = sum * 31 + sequence_memory[i];
  return sum; /* all of the memory is now in the cache */
}

/* One warm-up round and one measured round. All passes must have the same results. */
static void sequence_pass(void) {
#ifdef P5LAB_NATIVE
  uint32_t sum = sequence_run(1);
#else
  uint32_t sum = sequence_run(2);
#endif
  if (sequence_passes++ == 0) sequence_expected = sum;
  if (sum != sequence_expected) {
    fprintf(stderr, "%s: other results than the first time\n", sequence_current->name);
    exit(P5W_EXIT_FAILED);
  }
}

/* The empty bracket: a sequence without text. The report then shows the clocks of one copy of the
 * text, without the NOT before it and without the loop's instructions.
 */
static inline void sequence_empty(void (*run)(struct sequence_call *)) {
  const struct sequence empty = {P5_PHASE_EMPTY, "empty", {0}, run};
  if (!run) return;
  sequence_current = &empty;
  sequence_run(2);
}

/* Exit on machines without sequences. */
static inline void sequence_need(const struct sequence *any) {
  if (any->run) return;
  fprintf(stderr, "not a program for i386: nothing to measure\n");
  exit(P5W_EXIT_UNAVAILABLE);
}

static inline void sequence_repeat(const struct sequence *chosen, long warmup, long iterations) {
  sequence_current = chosen;
  sequence_passes = 0;
  p5w_repeat(sequence_pass, warmup, iterations);
}

#endif
