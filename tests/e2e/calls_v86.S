# SPDX-License-Identifier: MIT
#
# A boot sector that makes calls in virtual-8086 mode with IOPL 3 (test_counts_by_call.py). INT 60h
# goes through the IDT to 32-bit code in ring 0, which prepares the end marker and returns by IRET.
# Each bracket contains only this call. The program then writes a text into the video memory.

        .include "bare.inc"
        .set    ROUNDS, 10
        .set    IDT, 0x1000
        .set    VIDEO, 0xB800
        .set    TSS, 0x2000

        .include "boot_sector.inc"
        cli
        movw    $handler, IDT + 0x60 * 8
        movw    $8, IDT + 0x60 * 8 + 2
        movw    $0xEE00, IDT + 0x60 * 8 + 4     # a 32-bit interrupt gate for ring 3
        movw    $0, IDT + 0x60 * 8 + 6
        movl    $0x7000, TSS + 4                # the stack of ring 0
        movl    $16, TSS + 8
        movl    $0x680068, TSS + 100            # no I/O permissions
        lidtl   idt_pointer
        protect
        enter_virtual virtual

        .code16
virtual:
        movw    $ROUNDS, %bp
1:      marker  BEGIN, $1
        int     $0x60
        cpuid
        decw    %bp
        jnz     1b
        movw    $VIDEO, %ax
        movw    %ax, %es
        movw    $text, %si
        xorw    %di, %di
2:      lodsb
        testb   %al, %al
        jz      3f
        movb    $7, %ah
        stosw
        jmp     2b
3:      jmp     3b

        .code32
handler:
        movl    $LEAF, %eax
        movl    $END, %ecx
        movl    $1, %edx
        xorl    %esi, %esi
        iretl

idt_pointer:
        .word   0x61 * 8 - 1
        .long   IDT
        .balign 8
        gdt_begin
        .quad   0x0000890020000067      # 24: TSS
        gdt_end
text:   .asciz  "the end"

        .org    510
        .byte   0x55, 0xAA
