# SPDX-License-Identifier: MIT
#
# A program without operating system for test_modes.py. It runs in real, protected and virtual-8086
# mode, and uses markers in each mode. It also sets CR4.PGE and CR4.PAE, which raise #GP on a
# Pentium. Phase 1 is real mode, 2 protected mode, 3 virtual-8086 mode. The exit status is the
# number of #GPs.

        .include "bare.inc"

        .code16
        .globl  _start
_start: cli
        marker  BEGIN, $1
        marker  END, $1
        lidtl   idt_pointer
        protect
        marker  BEGIN, $2
        marker  END, $2

        movl    %cr4, %ebx
        movl    %ebx, %eax
        orl     $0x80, %eax             # PGE
        movl    %eax, %cr4
        movl    %ebx, %eax
        orl     $0x20, %eax             # PAE
        movl    %eax, %cr4

        enter_virtual virtual

        .code16
virtual:
        marker  BEGIN, $3
        marker  END, $3
        int     $0x30

        .code32
        .balign 4
leave:                                  # INT 30h from virtual-8086 mode: ring 0 again
        movw    $16, %ax                # the data segments came with nulls
        movw    %ax, %ds
        marker  EXIT, faults
1:      jmp     1b

        .balign 4
general_protection:                     # skip MOV to CR4, 3 bytes
        incl    faults
        addl    $4, %esp
        addl    $3, (%esp)
        iretl

        .balign 8
faults: .long   0
        gdt_begin
        .word   103, tss                # 24: TSS, below 64 KB
        .byte   0, 0x89, 0, 0
        gdt_end
idt_pointer:
        .word   0x31 * 8 - 1
        .long   idt

        .balign 8
tss:    .long   0, 0x5000, 16           # ESP0, SS0
        .fill   23, 4, 0

        .balign 8
idt:    .fill   13, 8, 0
        .word   general_protection, 8, 0x8E00, 0
        .fill   0x30 - 14, 8, 0
        .word   leave, 8, 0xEE00, 0
