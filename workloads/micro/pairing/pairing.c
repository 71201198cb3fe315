// SPDX-License-Identifier: MIT
/*
 * pairing: each phase is one short sequence of instructions. A sequence is the positive or the
 * negative case of a rule of the Pentium's pipes. The rules define which instructions pair, what a
 * pair costs, and which instruction must wait for another. tests/e2e/test_validation.py derives the
 * clocks of each phase from the rules. The phases have the same names there.
 *
 * The empty bracket is the loop without a sequence (lib/sequence.h).
 */
#define P5W_EMPTY_BRACKET fences
#include "sequence.h"

/* A bracket contains 20 loops of 20 copies. */
#define CLASSIC(X)                                                                               \
  /* Classes: UV, PU, PV, NP. */                                                                 \
  X(10, "mov; mov", "movl %ebx,%eax; movl %esi,%ecx")                                            \
  X(11, "neg; mov", "negl %eax; movl %esi,%ecx")                                                 \
  X(12, "mov; neg", "movl %esi,%ecx; negl %eax")                                                 \
  X(13, "adc; mov", "adcl %ebx,%eax; movl %esi,%ecx")                                            \
  X(14, "mov; adc", "movl %esi,%ecx; adcl %ebx,%eax")                                            \
  X(15, "shl imm; mov", "shll $3,%eax; movl %esi,%ecx")                                          \
  X(16, "mov; shl imm", "movl %esi,%ecx; shll $3,%eax")                                          \
  X(17, "shl cl; mov", "shll %cl,%eax; movl %esi,%edx")                                          \
  X(18, "rol 1; mov", "roll $1,%eax; movl %esi,%ecx")                                            \
  X(19, "rol imm; mov", "roll $3,%eax; movl %esi,%ecx")                                          \
  X(20, "test eax,imm; mov", "testl $256,%eax; movl %esi,%ecx")                                  \
  X(21, "test ecx,imm; mov", "testl $256,%ecx; movl %esi,%eax")                                  \
  X(22, "mov; jmp", "movl %esi,%ecx; jmp 2f; nop; 2:")                                           \
  X(23, "jmp; mov", "jmp 2f; nop; 2: movl %esi,%ecx")                                            \
  X(24, "jz; mov", "jz 2f; movl %esi,%ecx; 2:")                                                  \
  X(25, "inc; lea", "incl %eax; leal 4(%ebx),%ecx")                                              \
  X(26, "adc; adc", "adcl %ebx,%eax; adcl %esi,%ecx")                                            \
  X(27, "shl m; mov", "shll $1,(%ebx); movl %esi,%ecx")                                          \
  X(28, "mov; call", "movl %esi,%ecx; call 2f; nop; 2: popl %edx")                               \
  /* Registers. */                                                                               \
  X(30, "write; read", "movl %ebx,%eax; movl %eax,%ecx")                                         \
  X(31, "write; write", "movl %ebx,%eax; movl %esi,%eax")                                        \
  X(32, "read; write", "movl %eax,%ecx; movl %ebx,%eax")                                         \
  X(33, "al; ah", "movb $1,%al; movb $2,%ah")                                                    \
  X(34, "al; cl", "movb $1,%al; movb $2,%cl")                                                    \
  /* Flags. */                                                                                   \
  X(40, "cmp; jz", "cmpl %ebx,%esi; jz 2f; 2:")                                                  \
  X(41, "add; add", "addl %ebx,%eax; addl %esi,%ecx")                                            \
  X(42, "add; adc", "addl %ebx,%eax; adcl %esi,%ecx")                                            \
  /* The stack pointer. */                                                                       \
  X(50, "push; push, pop; pop", "pushl %eax; pushl %ecx; popl %ecx; popl %eax")                  \
  X(51, "push; pop, push; pop", "pushl %eax; popl %ecx; pushl %eax; popl %ecx")                  \
  X(52, "push; call", "pushl %eax; call 2f; nop; 2: popl %ecx; popl %edx")                       \
  X(53, "push; mov", "pushl %eax; movl %esi,%ecx; notl %edi; popl %edx")                         \
  X(54, "push; mov from esp", "pushl %eax; movl %esp,%ecx; notl %edi; popl %ecx")                \
  X(55, "push imm; mov", "pushl $1; movl %esi,%ecx; notl %edi; popl %edx")                       \
  /* Displacement and immediate, length, prefixes. */                                            \
  X(60, "mov (m),imm; mov", "movl $1,(%ebx); movl %esi,%ecx")                                    \
  X(61, "mov 4(m),imm; mov", "movl $1,4(%ebx); movl %esi,%ecx")                                  \
  X(62, "mov; 7 bytes", "movl %esi,%ecx; movl 0x100(%ebx,%edx,4),%eax")                          \
  X(63, "mov; 8 bytes", "movl %esi,%ecx; .byte 0x3e; movl 0x100(%ebx,%edx,4),%eax")              \
  X(64, "ds mov; mov", ".byte 0x3e; movl (%ebx),%eax; movl %esi,%ecx")                           \
  X(65, "mov; ds mov", "movl %esi,%ecx; .byte 0x3e; movl (%ebx),%eax")                           \
  X(66, "cmp; near jz", "cmpl %ebx,%esi; .byte 0x0f,0x84; .long 0")                              \
  X(67, "ds mov", ".byte 0x3e; movl (%ebx),%eax")                                                \
  X(68, "ds movw", ".byte 0x3e; movw (%ebx),%ax")                                                \
  X(69, "ds mov; ds mov", ".byte 0x3e; movl (%ebx),%eax; .byte 0x3e; movl (%ebx),%ecx")          \
  X(70, "shl cl; ds mov", "shll %cl,%eax; .byte 0x3e; movl (%ebx),%edx")                         \
  X(71, "movzx", "movzbl (%ebx),%eax")                                                           \
  X(72, "cld; movzx", "cld; movzbl (%ebx),%eax")                                                 \
  /* The cost of a pair: operations on registers, with a load, on memory. */                     \
  X(80, "reg | reg", "addl %edx,%ecx; addl %edx,%eax")                                           \
  X(81, "reg | r,m", "addl %edx,%ecx; addl 4(%ebx),%eax")                                        \
  X(82, "reg | m,r", "addl %edx,%ecx; addl %eax,4(%ebx)")                                        \
  X(83, "r,m | reg", "addl (%ebx),%ecx; addl %edx,%eax")                                         \
  X(84, "r,m | r,m", "addl (%ebx),%ecx; addl 4(%ebx),%eax")                                      \
  X(85, "r,m | m,r", "addl (%ebx),%ecx; addl %eax,4(%ebx)")                                      \
  X(86, "m,r | reg", "addl %ecx,(%ebx); addl %edx,%eax")                                         \
  X(87, "m,r | r,m", "addl %ecx,(%ebx); addl 4(%ebx),%eax")                                      \
  X(88, "m,r | m,r", "addl %ecx,(%ebx); addl %eax,4(%ebx)")                                      \
  /* Addresses: AGI. */                                                                          \
  X(100, "mov; load by it", "movl %ebx,%ecx; movl (%ecx),%eax")                                  \
  X(101, "mov; neg; load by it", "movl %ebx,%ecx; negl %edx; movl (%ecx),%eax")                  \
  X(111, "mov; ds load by it", "movl %ebx,%ecx; .byte 0x3e; movl (%ecx),%eax")                   \
  X(102, "load; load by it", "movl 64(%ebx),%ecx; movl (%ecx),%eax")                             \
  X(103, "mov | mov, load | load by them",                                                       \
    "movl %ebx,%ecx; movl %esi,%edx; movl (%ecx),%eax; movl 4(%edx),%edx")                       \
  X(104, "mov; lea by it", "movl %ebx,%ecx; leal 4(%ecx),%eax")                                  \
  X(105, "sub esp; push", "subl $4,%esp; pushl %eax; addl $8,%esp")                              \
  X(106, "sub esp; neg; push", "subl $4,%esp; negl %ecx; pushl %eax; addl $8,%esp")              \
  X(107, "mov edi; stos", "movl %ebx,%edi; stosl")                                               \
  X(108, "mov edi; neg; stos", "movl %ebx,%edi; negl %eax; stosl")                               \
  X(109, "ret imm; push",                                                                        \
    "jmp 2f; 3: ret $4; 2: pushl %eax; call 3b; pushl %ecx; popl %edx")                          \
  X(110, "ret; push", "jmp 2f; 3: ret; 2: call 3b; pushl %ecx; popl %edx")                       \
  /* Memory. */                                                                                  \
  X(120, "load", "movl 4(%ebx),%eax")                                                            \
  X(121, "load, misaligned", "movl 2(%ebx),%eax")                                                \
  X(122, "load, across lines", "movl 30(%ebx),%eax")                                             \
  X(123, "store, misaligned", "movl %eax,2(%ebx)")                                               \
  X(124, "word load at 1", "movw 1(%ebx),%ax")                                                   \
  X(125, "fld double at 512", "fldl 512(%ebx); fstp %st(0)")                                     \
  X(126, "fld double at 516", "fldl 516(%ebx); fstp %st(0)")                                     \
  X(130, "load | load, two banks", "movl (%ebx),%eax; movl 36(%ebx),%ecx")                       \
  X(131, "load | load, one bank", "movl (%ebx),%eax; movl 32(%ebx),%ecx")                        \
  X(132, "store | load, one bank", "movl %eax,(%ebx); movl 32(%ebx),%ecx")                       \
  X(140, "load; use", "movl (%ebx),%eax; addl %eax,%ecx")                                        \
  X(141, "store; neg; load", "movl %eax,(%ebx); negl %edx; movl (%ebx),%ecx")                    \
  X(142, "add r,m", "addl (%ebx),%eax")                                                          \
  X(143, "add m,r", "addl %eax,(%ebx)")                                                          \
  X(144, "inc m", "incl (%ebx)")                                                                 \
  /* Long instructions. */                                                                       \
  X(150, "mul", "mull %esi")                                                                     \
  X(151, "imul r,r", "imull %esi,%eax")                                                          \
  X(152, "div", "xorl %edx,%edx; divl %esi")                                                     \
  X(153, "xchg", "xchgl %eax,%ecx")                                                              \
  X(154, "cdq", "cltd")                                                                          \
  X(155, "pusha; popa", "pushal; popal")                                                         \
  X(156, "rep stos", "movl %ebx,%edi; movl $8,%ecx; cld; rep stosl")                             \
  X(157, "rep movs", "leal 256(%ebx),%edi; movl $8,%ecx; cld; rep movsl; leal -32(%esi),%esi")   \
  /* Floating point. The NOTs wait for the last result. */                                    \
  X(170, "fadd", "fadd %st(1),%st; .rept 3; notl %edi; .endr")                                   \
  X(171, "fadd; fadd needing it",                                                                \
    "fadd %st(1),%st; fadd %st(2),%st; .rept 2; notl %edi; .endr")                               \
  X(172, "fadd; fadd", "fadd %st,%st(1); fadd %st,%st(2); .rept 2; notl %edi; .endr")            \
  X(173, "fmul; fmul", "fmul %st,%st(1); fmul %st,%st(2); .rept 2; notl %edi; .endr")            \
  X(174, "fmul; fadd", "fmul %st,%st(1); fadd %st,%st(2); .rept 2; notl %edi; .endr")            \
  X(175, "fadd | fxch; fadd",                                                                    \
    "fadd %st(1),%st; fxch %st(2); fadd %st,%st(3); .rept 2; notl %edi; .endr")                  \
  X(176, "fadd | fxch; mov",                                                                     \
    "fadd %st(1),%st; fxch %st(2); movl %esi,%ecx; .rept 2; notl %edi; .endr")                   \
  X(177, "fxch", "fxch %st(2)")                                                                  \
  X(186, "fld | fxch; fstp", "flds 512(%ebx); fxch %st(1); fstp %st(0)")                         \
  X(187, "fist; fxch", "fistl (%ebx); fxch %st(1)")                                              \
  X(188, "fadd; mov", "fadd %st(1),%st; movl %esi,%ecx; .rept 2; notl %edi; .endr")              \
  X(178, "fld; fstp", "flds 512(%ebx); fstps 516(%ebx)")                                         \
  X(179, "fadd; fst", "fadd %st(1),%st; fsts 516(%ebx)")                                         \
  X(180, "fadd; 3 not; fst", "fadd %st(1),%st; .rept 3; notl %edi; .endr; fsts 516(%ebx)")       \
  X(181, "fdiv; fadd needing it",                                                                \
    "fdiv %st(1),%st; fadd %st(2),%st; .rept 2; notl %edi; .endr")                               \
  X(182, "fdiv; 38 not; fadd needing it",                                                        \
    "fdiv %st(1),%st; .rept 38; notl %edi; .endr; fadd %st(2),%st; .rept 2; notl %edi; .endr")   \
  X(189, "fdiv; mul",                                                                            \
    "fdiv %st(1),%st; mull %esi; .rept 2; notl %edi; .endr")                                     \
  X(183, "fild; fstp needing it", "fildl (%ebx); fstp %st(0)")                                   \
  X(184, "fist", "fistl (%ebx)")                                                                 \
  X(185, "fcom; fnstsw", "fcom %st(1); fnstsw %ax")

/* A bracket contains 5 loops. The code of a loop is twice as large as the L1 code cache: it has 512
 * lines, and each line misses.
 */
#define COLD(X)                                                            \
  X(190, "cold code, 1 byte", ".rept 512 * 16; incl %eax; incl %ecx; .endr\n") \
  X(191, "cold code, 2 bytes", ".rept 512 * 8; movl %ebx,%eax; movl %esi,%ecx; .endr\n")

#define DEFINE(number, name, text) SEQUENCE(number, 20, 20, text)
CLASSIC(DEFINE)
SEQUENCE(0, 20, 20, "")
static void fences(void) { sequence_empty(SEQUENCE_RUN(0)); }
#define DEFINE_COLD(number, name, body) SEQUENCE_RAW(number, 5, body)
COLD(DEFINE_COLD)

#define ENTRY(number, name, text) {number, name, {.eax = 1, .ecx = 2}, SEQUENCE_RUN(number)},
static const struct sequence sequences[] = {CLASSIC(ENTRY) COLD(ENTRY)};

int main(int argc, char **argv) {
  long iterations = 3, warmup = 1;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  sequence_need(sequences);

  for (size_t i = 0; i < sizeof(sequences) / sizeof(*sequences); i++)
    sequence_repeat(&sequences[i], warmup, iterations);
  return 0;
}
