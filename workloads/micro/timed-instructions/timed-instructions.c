// SPDX-License-Identifier: MIT
/*
 * timed-instructions: chains of equal instructions, whose clocks were measured on a Pentium and
 * published (lavalys09). Phase = instruction. Each copy uses the result of the copy before, if it
 * can, and no other instruction stands between two copies.
 *
 *   1 to 32   an instruction with a prefix, or with an address from the instruction before, or a pair
 *             of instructions: the clocks follow from more than one rule of the model
 *   from 101  the clocks are one row of the model's table (engine/p5/timing.csv)
 *
 * The empty bracket is the loop without copies (lib/sequence.h).
 */
#define P5W_EMPTY_BRACKET empty
#include "sequence.h"

#define CHAINS(X) \
  X(1, "66 nop", ".byte 0x66; nop")                            \
  X(2, "14 x 66 nop", ".fill 14,1,0x66; nop")                  \
  X(3, "lea", "leal (%eax,%ecx),%eax")                         \
  X(4, "add r16", "addw %cx,%ax")                              \
  X(5, "shl r16,cl", "shlw %cl,%ax")                           \
  X(6, "xchg r16", "xchgw %dx,%cx")                            \
  X(7, "cbw", "cbtw")                                          \
  X(8, "cwd", "cwtd")                                          \
  X(9, "div r16", "divw %cx")                                 \
  X(10, "idiv r16", "idivw %cx")                               \
  X(11, "setc", "setc %al")                                    \
  X(12, "bswap", "bswap %eax")                                 \
  X(13, "movzx r32,r8", "movzbl %al,%eax")                     \
  X(14, "movzx r16,r8", "movzbw %al,%ax")                      \
  X(15, "bt", "btl %ecx,%eax")                                 \
  X(16, "btc", "btcl %ecx,%eax")                               \
  X(17, "shld imm", "shldl $4,%edx,%eax")                      \
  X(18, "shld cl", "shldl %cl,%edx,%eax")                      \
  X(19, "xadd", "xaddl %edx,%eax")                             \
  X(20, "pusha; popa", "pushaw; popaw")                        \
  X(21, "pushad; popad", "pushal; popal")                      \
  X(22, "push r16; pop r16", "pushw %ax; popw %ax")            \
  X(23, "push r32; pop r32", "pushl %eax; popl %eax")          \
  X(24, "push imm8; pop r32", "pushl $1; popl %eax")           \
  X(25, "push imm32; pop r32", "pushl $0x12345678; popl %eax") \
  X(26, "push m16; pop m16", "pushw (%ebx); popw (%ebx)")      \
  X(27, "push m32; pop m32", "pushl (%ebx); popl (%ebx)")      \
  X(28, "pushf; popf", "pushfw; popfw")                        \
  X(29, "pushfd; popfd", "pushfl; popfl")                      \
  X(30, "fadd; fxch", "fadd %st(1),%st; fxch %st(1)")          \
  X(31, "fmul; fxch", "fmul %st(1),%st; fxch %st(1)")          \
  X(32, "fmul; fadd", "fmul %st(1),%st; fadd %st(1),%st")

#define ROWS(X) \
  X(101, "add", "addl %ecx,%eax")   \
  X(102, "adc", "adcl %ecx,%eax")   \
  X(103, "neg", "negl %eax")        \
  X(104, "inc", "incl %eax")        \
  X(105, "shl imm", "shll $3,%eax") \
  X(106, "shl cl", "shll %cl,%eax") \
  X(107, "rol 1", "roll $1,%eax")   \
  X(108, "rol imm", "roll $3,%eax") \
  X(109, "rol cl", "roll %cl,%eax") \
  X(110, "rcl 1", "rcll $1,%eax")   \
  X(111, "div r8", "divb %cl")      \
  X(112, "div r32", "divl %ecx")    \
  X(113, "idiv r8", "idivb %cl")    \
  X(114, "idiv r32", "idivl %ecx")  \
  X(115, "xchg", "xchgl %edx,%ecx") \
  X(116, "cwde", "cwtl")            \
  X(117, "cdq", "cltd")             \
  X(118, "clc", "clc")              \
  X(119, "aaa", "aaa")              \
  X(120, "aad", "aad")              \
  X(121, "aam", "aam")              \
  X(122, "lahf", "lahf")            \
  X(123, "fnop", "fnop")            \
  X(124, "fxch", "fxch %st(1)")     \
  X(125, "fchs", "fchs")            \
  X(126, "ftst", "ftst")            \
  X(127, "fxam", "fxam")            \
  X(128, "fcom", "fcom %st(1)")     \
  X(129, "fdecstp", "fdecstp")      \
  X(130, "fadd", "fadd %st,%st(1)") \
  X(131, "fmul", "fmul %st,%st(1)") \
  X(132, "fdiv", "fdiv %st,%st(1)") \
  X(133, "fsqrt", "fsqrt")

/* A bracket contains 20 loops of 32 copies. */
#define DEFINE(number, name, text) SEQUENCE_RAW(number, 20, ".rept 32\n" text "\n.endr\n")
CHAINS(DEFINE)
ROWS(DEFINE)
SEQUENCE_RAW(0, 20, "")
static void empty(void) { sequence_empty(SEQUENCE_RUN(0)); }

#define ENTRY(number, name, text) {number, name, {.eax = 1, .ecx = 1}, SEQUENCE_RUN(number)},
static const struct sequence sequences[] = {CHAINS(ENTRY) ROWS(ENTRY)};

int main(int argc, char **argv) {
  long iterations = 3, warmup = 1;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  sequence_need(sequences);

  for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++)
    sequence_repeat(&sequences[i], warmup, iterations);
  return 0;
}
