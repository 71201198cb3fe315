# SPDX-License-Identifier: MIT
# Stores that miss, and the lines that remain in an 8 KB cache after them.
        .include "m5.inc"
        .set    LINE, 32
        .set    HELD, 0x808000          # 8 KB, read; other sets of a 256 KB cache than the code
        .set    STORED, 0x908000        # 16 KB, written; in the same sets of that cache
        .set    PROBE, 0x914000         # other sets
        .set    OTHER, 0xA10000         # 8 KB, read

        # One access to each line of a region.
        .macro  each_line address, bytes, access:vararg
        movl    $\address, %ebx
1:      \access
        addl    $LINE, %ebx
        cmpl    $\address + \bytes, %ebx
        jne     1b
        .endm

        .globl  _start
_start: each_line HELD, 0x2000, movl (%rbx), %eax
        section                         # 0: filled
        each_line HELD, 0x2000, movl (%rbx), %eax
        section                         # 1: hits
        each_line STORED, 0x4000, movl %eax, (%rbx)
        section                         # 2: stores that miss
        each_line HELD, 0x2000, movl (%rbx), %eax
        section                         # 3: check whether the 8 KB are still there
        movl    PROBE, %eax
        movl    %eax, PROBE
        section                         # 4: a read fills the line, the write hits
        lock incl PROBE + LINE
        movl    PROBE + LINE, %ecx
        section                         # 5: a locked read fills the line too
        movl    %ebx, PROBE + 2 * LINE
        movl    PROBE + 2 * LINE, %ecx
        cmpl    %ebx, %ecx              # the value that a store miss wrote has arrived
        jne     wrong
        section                         # 6
        each_line OTHER, 0x2000, movl (%rbx), %eax
        section                         # 7: L1D holds other lines
        each_line HELD, 0x2000, movl (%rbx), %eax
        section                         # 8: lines that remain in L2 after the stores
        finish
wrong:  fail    $1
