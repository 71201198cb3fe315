// SPDX-License-Identifier: MIT
/*
 * segload: loads of data segment registers in protected mode, from a register, from memory, from
 * the stack and with a pointer. Some loads load the selector that the register already contains,
 * and other loads load a different selector. Each load reads a descriptor of 8 bytes.
 *
 * The empty bracket is the loop without a sequence (lib/sequence.h). The selectors are the normal
 * selectors of a Linux program. ECX contains the selector of the program's data. EDX contains the
 * selector of the program's code, which is readable. EAX contains the selector in GS, which the C
 * library uses. At the end each segment register contains its own selector again.
 */
#define P5W_EMPTY_BRACKET fences
#include "sequence.h"

#define CASES(X)                                                                 \
  X(10, "ds", "movl %ecx,%ds")                                                   \
  X(11, "es", "movl %ecx,%es")                                                   \
  X(12, "fs", "movl %ecx,%fs")                                                   \
  X(13, "gs", "movl %eax,%gs")                                                   \
  X(20, "ds, another and back", "movl %edx,%ds; movl %ecx,%ds")                  \
  X(21, "es, another and back", "movl %edx,%es; movl %ecx,%es")                  \
  X(22, "fs, another and back", "movl %edx,%fs; movl %ecx,%fs")                  \
  X(23, "gs, another and back", "movl %ecx,%gs; movl %eax,%gs")                  \
  X(30, "es, none and back", "xorl %eax,%eax; movl %eax,%es; movl %ecx,%es")     \
  X(31, "es from memory", "movl %ecx,68(%ebx); negl %edx; movw 68(%ebx),%es")    \
  X(32, "push es; pop es", "pushl %es; popl %es")                                \
  X(33, "push fs; pop fs", "pushl %fs; popl %fs")                                \
  X(34, "les", "movl %ecx,68(%ebx); negl %edx; lesl 64(%ebx),%eax")              \
  X(35, "lfs", "movl %ecx,68(%ebx); negl %edx; lfsl 64(%ebx),%eax")

#define DEFINE(number, name, text) SEQUENCE(number, 20, 20, text)
CASES(DEFINE)
SEQUENCE(0, 20, 20, "")
static void fences(void) { sequence_empty(SEQUENCE_RUN(0)); }

#define ENTRY(number, name, text) {number, name, {0}, SEQUENCE_RUN(number)},
static struct sequence sequences[] = {CASES(ENTRY)};

int main(int argc, char **argv) {
  long iterations = 3, warmup = 1;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  sequence_need(sequences);

  struct sequence_call start = {0};
  __asm__ volatile("movl %%gs, %0; movl %%ds, %1; movl %%cs, %2"
                   : "=r"(start.eax), "=r"(start.ecx), "=r"(start.edx));
  for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++) {
    sequences[i].start = start;
    sequence_repeat(&sequences[i], warmup, iterations);
  }
  return 0;
}
