/* SPDX-License-Identifier: MIT */
/* Conditional branches to the next instruction: taken in phase 1, not taken in phase 2. */
#include "marker_numbers.h"

#define COUNT 100

.macro marker operation, argument
  mov $P5_MARKER_LEAF, %eax
  mov $\operation, %ecx
  mov $\argument, %edx
  cpuid
.endm

.macro branches phase, jump
  marker P5_OP_BEGIN, \phase
  mov $COUNT, %edi
1:
  cmp %eax, %eax
  \jump 2f
2:
  dec %edi
  jnz 1b
  marker P5_OP_END, \phase
.endm

  .globl _start
_start:
  branches 1, je
  branches 2, jne
  marker P5_OP_EXIT, 0
