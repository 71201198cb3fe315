# SPDX-License-Identifier: MIT
# Reads of lines that L2 has modified. The region is larger than L1D (8 KB) and smaller than L2.
        .include "m5.inc"
        .set    LINE, 32
        .set    REGION, 0x810000        # other sets of a 256 KB cache than the code
        .set    BYTES, 0x6000           # 24 KB

        # One access to each line of the region.
        .macro  each_line access:vararg
        movl    $REGION, %ebx
1:      \access
        addl    $LINE, %ebx
        cmpl    $REGION + BYTES, %ebx
        jne     1b
        .endm

        .globl  _start
_start: each_line addl %ebx, (%rbx)     # a read fills the line, and the write hits
        each_line movl (%rbx), %eax     # L1D has written all lines back
        section                         # 0
        each_line movl (%rbx), %eax
        section                         # 1: reads alone
        each_line addl %ebx, (%rbx)
        section                         # 2: each line is modified again
        each_line addl %ebx, %ebp       # no access
        section                         # 3
        movl    $REGION, %ebx           # both modifications have arrived
2:      movl    (%rbx), %eax
        leal    (%rbx, %rbx), %ecx
        cmpl    %ecx, %eax
        jne     wrong
        addl    $LINE, %ebx
        cmpl    $REGION + BYTES, %ebx
        jne     2b
        section                         # 4
        finish
wrong:  fail    $1
