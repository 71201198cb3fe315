# SPDX-License-Identifier: MIT
#
# A program without operating system for test_breakpoints.py. DR0 watches a word for writes, and DR1
# watches the same word for any access. No breakpoint is enabled. Phase 1 reads the word twice and
# writes it once. Then both registers are cleared, and phase 2 makes the same accesses.

        .include "bare.inc"

        .macro  accesses
        movl    word, %ebx
        movl    word, %ebx
        movl    %ebx, word
        .endm

        .code16
        .globl  _start
_start: cli
        protect
        movl    $word, %eax
        movl    %eax, %dr0
        movl    %eax, %dr1
        movl    $0x00FD0000, %eax       # 4 bytes each: DR0 writes, DR1 any access
        movl    %eax, %dr7
        marker  BEGIN, $1
        accesses
        marker  END, $1
        xorl    %eax, %eax
        movl    %eax, %dr0
        movl    %eax, %dr1
        marker  BEGIN, $2
        accesses
        marker  END, $2
        marker  EXIT, $0
1:      jmp     1b

        .balign 32
word:   .long   0
        .balign 32
        gdt_begin
        gdt_end
