// SPDX-License-Identifier: MIT
/*
 * branch: predictions of the branch target buffer. The cases are one branch that follows a pattern,
 * indirect jumps and returns, more branches than the buffer holds, and an emptied buffer.
 * tests/e2e/test_validation.py derives the number of mispredictions of each phase. The phases have
 * the same names there.
 *
 * Phases 0 to 4 are the loops without a sequence (lib/sequence.h).
 */
#include <sys/mman.h>
#include <unistd.h>

#include "sequence.h"

#define PAGE 4096
#define LFSR 0xEDB88320 /* taps of a 32-bit shift register of maximal length (CRC-32) */

/* One branch, 1024 times. ROL shifts the pattern of the branch into the carry flag, beginning with
 * the highest bit. When the branch is not taken, one more NOT is executed. Four NOTs make the loop
 * longer than the buffer's pipeline.
 */
#define LONG "; .rept 4; notl %edi; .endr"
#define IN_V "roll $1,%eax; jc 2f; notl %edi; 2:" LONG
#define IN_U "roll $1,%eax; notl %edi; jc 2f; notl %edi; 2:" LONG

#define PATTERNS(X)                                                                          \
  X(0, "fences, 1024 loops", 0, "")                                                          \
  X(10, "never taken", 0, IN_V)                                                              \
  X(11, "always taken", 0xFFFFFFFF, IN_V)                                                    \
  X(12, "alternating, in V", 0xAAAAAAAA, IN_V)                                               \
  X(13, "alternating, in U", 0xAAAAAAAA, IN_U)                                               \
  X(14, "taken 3 of 4", 0xEEEEEEEE, IN_V)                                                    \
  X(15, "taken 2 of 4", 0xCCCCCCCC, IN_V)                                                    \
  X(16, "taken 1 of 4", 0x88888888, IN_V)                                                    \
  X(17, "taken 1 of 8", 0x80808080, IN_V)                                                    \
  X(18, "random", 1, "shrl $1,%eax; jnc 2f; xorl $" LFSR_TEXT ",%eax; 2:" LONG)              \
  X(19, "behind a mispredicted one", 0xAAAAAAAA,                                           \
    "roll $1,%eax; jc 2f; jmp 3f; nop; 2: notl %edi; 3:" LONG)                               \
  X(26, "behind a mispredicted one and a NOT", 0xAAAAAAAA,                                 \
    "roll $1,%eax; jc 2f; notl %edi; jmp 3f; nop; 2: notl %edi; 3:" LONG)                    \
  X(27, "foretold, but not there", 0xFFFF0000,                                              \
    "roll $1,%eax; notl %edi; jc 2f; jmp 3f; nop; 2: notl %edi; 3:" LONG)                    \
  X(20, "jmp to the next", 0, "jmp 2f; 2:")                                                  \
  X(21, "jmp", 0, "jmp 2f; nop; 2:")                                                         \
  X(22, "indirect, one target", 0, INDIRECT(0))                                              \
  X(23, "indirect, two targets", 0, INDIRECT(2))                                             \
  X(24, "ret, two callers", 0, "jmp 2f; 3: notl %edi; ret; 2: call 3b; notl %edi; call 3b")  \
  X(25, "ret behind call, two callers", 0, "jmp 2f; 3: ret; 2: call 3b; notl %edi; call 3b")

#define STRING(text) #text
#define EXPANDED_STRING(text) STRING(text)
#define LFSR_TEXT EXPANDED_STRING(LFSR)
/* A jump to one of two addresses, 2 bytes apart. If `toggle` is 2, the address changes each time.
 */
#define INDIRECT(toggle)                                                                        \
  "xorl $" #toggle ",%edx; call 3f; 4: nop; 3: popl %ecx; notl %edi; leal 2f-4b(%ecx,%edx),%ecx;" \
  "jmp *%ecx; nop; 2: notl %edi; 2:"

/* Many jumps, repeated 64 times. The instruction before the jump, here NOT, selects the entry of
 * the buffer. At a distance of 64 bytes all jumps are in the same set. At a distance of 5 bytes
 * they use all sets in turn.
 */
#define APART_64 "jmp 2f; .fill 60,1,0x90; 2:"
#define APART_5 "jmp 2f; nop; 2:"
#define RINGS(X)                                      \
  X(1, "fences, 3", 3, "")                            \
  X(2, "fences, 4", 4, "")                            \
  X(3, "fences, 192", 192, "")                        \
  X(4, "fences, 320", 320, "")                        \
  X(30, "3 jumps and the loop, one set", 3, APART_64) \
  X(31, "4 jumps and the loop, one set", 4, APART_64) \
  X(32, "192 jumps, all sets", 192, APART_5)          \
  X(33, "320 jumps, all sets", 320, APART_5)

#define DEFINE_PATTERN(number, name, pattern, text) SEQUENCE(number, 1, 1024, text)
PATTERNS(DEFINE_PATTERN)
/* A pattern in a short loop. The branch is executed again before the buffer has written the new
 * state of its entry.
 */
#define SHORT "roll $1,%eax; jc 2f; notl %edi; 2:\n"
SEQUENCE_RAW(28, 1024, SHORT)
#define DEFINE_RING(number, name, copies, text) SEQUENCE(number, copies, 64, text)
RINGS(DEFINE_RING)
SEQUENCE(40, 192, 1, APART_5)

#define PATTERN(number, name, pattern, text) {number, name, {.eax = pattern}, SEQUENCE_RUN(number)},
#define RING(number, name, copies, text) {number, name, {0}, SEQUENCE_RUN(number)},
static const struct sequence sequences[] = {
    PATTERNS(PATTERN) RINGS(RING)
    {28, "taken 1 of 4, short loop", {.eax = 0x88888888}, SEQUENCE_RUN(28)}};

/* The 192 jumps are executed once, in three cases: with their entries in the buffer, after a system
 * call that does not load CR3, and after a system call that loads CR3.
 */
static const struct sequence kept = {40, "192 jumps, known", {0}, SEQUENCE_RUN(40)};
static const struct sequence called = {41, "192 jumps, after getpid", {0}, SEQUENCE_RUN(40)};
static const struct sequence flushed = {42, "192 jumps, after a CR3 load", {0}, SEQUENCE_RUN(40)};

/* When Linux changes the protection of this many pages, it loads CR3 to flush the whole TLB
 * (arch/x86/mm/tlb.c, tlb_single_page_flush_ceiling: 33).
 */
#define PAGES 64
static char *pages;

static void load_cr3(void) {
  for (size_t i = 0; i < PAGES; i++) pages[i * PAGE] = 1;
  if (mprotect(pages, PAGES * PAGE, PROT_READ) != 0 ||
      mprotect(pages, PAGES * PAGE, PROT_READ | PROT_WRITE) != 0)
    p5w_fail("mprotect");
}

static void known_pass(void) {
  sequence_current = &kept;
  sequence_run(2);
  sequence_current = &called;
  (void)getpid();
  sequence_run(1);
  sequence_current = &flushed;
  load_cr3();
  sequence_run(1);
}

int main(int argc, char **argv) {
  long iterations = 3, warmup = 1;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  sequence_need(sequences);
  pages = mmap(NULL, PAGES * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) p5w_fail("mmap");

  for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++)
    sequence_repeat(&sequences[i], warmup, iterations);
  p5w_repeat(known_pass, warmup, iterations);
  return 0;
}
