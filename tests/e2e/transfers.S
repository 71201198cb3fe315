# SPDX-License-Identifier: MIT
#
# A program without operating system for test_transfers.py: INT and IRET in real mode, inside ring 0
# of protected mode, and between virtual-8086 mode and ring 0. In each the phase 10, 20 or 30 lasts
# from INT to the handler, the next from IRET back to the program; the one behind these is empty.

        .set    LEAF, 0x50354C42
        .set    BEGIN, 2
        .set    END, 3
        .set    EXIT, 5
        .set    PASSES, 4

        .macro  operands op, phase
        movl    $LEAF, %eax
        movl    $\op, %ecx
        movl    $\phase, %edx
        xorl    %esi, %esi
        .endm
        # NEG pairs with nothing: what the operands cost is the same in every phase.
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
        cpuid                           # the end that the handler has prepared
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
        movl    %cr0, %eax
        andl    $0x9FFFFFFF, %eax       # caches on
        movl    %eax, %cr0
        movl    $real, 0x40 * 4         # segment 0
        transfers 0x40, 10

        lgdtl   gdt_pointer
        lidtl   idt_pointer
        movl    %cr0, %eax
        orl     $1, %eax
        movl    %eax, %cr0
        ljmpl   $8, $protected

        .balign 32
real:   handler 10
        iret

        .code32
protected:
        movw    $16, %ax
        movw    %ax, %ds
        movw    %ax, %es
        movw    %ax, %ss
        movl    $0x7000, %esp
        transfers 0x40, 20

        movw    $24, %ax
        ltr     %ax
        pushl   $0                      # GS FS DS ES
        pushl   $0
        pushl   $0
        pushl   $0
        pushl   $0                      # SS ESP
        pushl   $0x6000
        pushl   $0x23002                # VM, IOPL 3
        pushl   $0                      # CS EIP
        pushl   $virtual
        iretl

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
gdt:    .quad   0
        .quad   0x00CF9A000000FFFF      # 8: flat 32-bit code
        .quad   0x00CF92000000FFFF      # 16: flat data
        .word   103, tss                # 24: TSS, below 64 KB
        .byte   0, 0x89, 0, 0
gdt_pointer:
        .word   . - gdt - 1
        .long   gdt
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
