# SPDX-License-Identifier: MIT
#
# A program without operating system for test_transfers.py. It executes INT and IRET in real mode,
# inside ring 0 of protected mode, and between virtual-8086 mode and ring 0. In these modes, phase
# 10, 20 or 30 lasts from INT to the handler. The next phase lasts from IRET to the program. The
# phase after it is empty.

        .include "bare.inc"
        .set    PASSES, 4

        .macro  operands op, phase
        movl    $LEAF, %eax
        movl    $\op, %ecx
        movl    $\phase, %edx
        xorl    %esi, %esi
        .endm
        # NEG does not pair, so the operands cost the same in every phase.
        .macro  begin phase
        negl    %ebx
        operands BEGIN, \phase
        cpuid
        operands END, \phase
        .endm
        .macro  transfers vector, phase
        movb    $PASSES, passes
9:      begin   \phase+2
        cpuid
        begin   \phase
        int     $\vector
        cpuid                           # the end marker, which the handler has prepared
        decb    passes
        jnz     9b
        .endm
        .macro  handler phase
        cpuid
        begin   \phase+1
        .endm

        .code16
        .globl  _start
_start: cli
        caches_on
        movl    $real, 0x40 * 4         # segment 0
        transfers 0x40, 10

        lidtl   idt_pointer
        jmp     1f

        .balign 32
real:   handler 10
        iret

1:      protect
        transfers 0x40, 20

        enter_virtual virtual

        .balign 32
same:   handler 20
        iretl

        .code16
virtual:
        transfers 0x41, 30
        int     $0x42

        .code32
        .balign 32
inner:  handler 30
        iretl

leave:  operands EXIT, 0
        cpuid
1:      jmp     1b

        .balign 8
        gdt_begin
        .word   103, tss                # 24: TSS, below 64 KB
        .byte   0, 0x89, 0, 0
        gdt_end
idt_pointer:
        .word   0x43 * 8 - 1
        .long   idt
passes: .byte   0

        .balign 8
tss:    .long   0, 0x5000, 16           # ESP0, SS0
        .fill   23, 4, 0

        .balign 8
idt:    .fill   0x40, 8, 0
        .word   same, 8, 0x8E00, 0
        .word   inner, 8, 0xEE00, 0
        .word   leave, 8, 0xEE00, 0
