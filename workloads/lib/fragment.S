/* SPDX-License-Identifier: MIT */
/*
 * Runs a fragment of code without an operating system, for `./p5lab cycles`. The boot ROM starts
 * this file in real mode. It changes to flat protected mode, ring 0, without paging and interrupts,
 * and calls the fragment several times from the same registers and memory. The earlier calls fill
 * the caches and train the branch target buffer; each call has a bracket of its own.
 *
 * src/p5lab/prepare/fragment.py defines, with -D or as symbols of the linker:
 *   ROUNDS           calls
 *   ARGUMENTS        instructions that push the arguments
 *   START_EAX, ...   the registers, but not ESP
 *   fragment         the first instruction. It ends with RET, or goes on at fragment_returns.
 *   memory           a page in which each word of 32 bits is 1
 *   own_data, own_data_end   the fragment's data, or the first part of it, as large as L1D
 *   stack            the end of the stack
 *
 * Exit status: 0, or 256 and the vector of an exception.
 */
#include "marker_numbers.h"

#define WORDS 1024
#define LINE 32
#define STACK_LINES 16
#define VECTORS 32

        .macro marker op, argument
        movl $P5_MARKER_LEAF, %eax
        movl $\op, %ecx
        movl \argument, %edx
        xorl %esi, %esi
        cpuid
        .endm

        .section .runner, "awx"
        .globl _start, fragment_returns
        .code16
_start: cli
        movb $0xFF, %al                 /* no interrupts, also if the fragment executes STI */
        outb %al, $0x21
        outb %al, $0xA1
        inb $0x92, %al                  /* addresses above 1 MB */
        orb $2, %al
        outb %al, $0x92
        lgdtl gdt_pointer
        movl %cr0, %eax
        andl $0x9FFFFFFF, %eax          /* CD and NW: after reset the caches are off */
        orl $0x23, %eax                 /* PE, MP, NE */
        movl %eax, %cr0
        ljmpl $8, $flat

        .code32
flat:   movw $16, %ax
        movw %ax, %ds
        movw %ax, %es
        movw %ax, %fs
        movw %ax, %gs
        movw %ax, %ss
        movl $stack, %esp

        movl $handlers, %eax            /* interrupt gates of ring 0 */
        movl $idt, %edi
        movl $VECTORS, %ecx
1:      movw %ax, (%edi)
        movw $8, 2(%edi)
        movw $0x8E00, 4(%edi)
        movl %eax, %edx
        shrl $16, %edx
        movw %dx, 6(%edi)
        addl $8, %eax
        addl $8, %edi
        decl %ecx
        jnz 1b
        lidtl idt_pointer
        marker P5_OP_READY, $0

again:  cld
        movl $stack, %esp
        movl $memory, %edi
        movl $1, %eax
        movl $WORDS, %ecx
        rep stosl
        movl $memory, %esi              /* a write fills no line */
        movl $memory + 4 * WORDS, %edi
        call read
        movl $own_data, %esi
        movl $own_data_end, %edi
        call read
        movl $stack, %esp
        movl $STACK_LINES, %ecx
1:      movl -LINE(%esp), %eax
        subl $LINE, %esp
        decl %ecx
        jnz 1b
        movl $stack, %esp
        fninit
        fld1
        fld1
        fld1
        fld1
        ARGUMENTS
        movl %esp, stack_pointer
        marker P5_OP_BEGIN, $1
        movl $registers, %esp
        popal
        movl stack_pointer, %esp
        call fragment
fragment_returns:
        movl $stack, %esp
        marker P5_OP_END, $1
        decl rounds
        jnz again
        marker P5_OP_EXIT, $0

read:   cmpl %edi, %esi                 /* from ESI to EDI */
        jae 1f
        movl (%esi), %eax
        addl $LINE, %esi
        jmp read
1:      ret

        .balign 8
handlers:
        .set vector, 0
        .rept VECTORS
        pushl $vector
        jmp fault
        .balign 8
        .set vector, vector + 1
        .endr
fault:  popl %edi
        addl $256, %edi
        marker P5_OP_END, $1
        marker P5_OP_EXIT, %edi

        .balign 8
gdt:    .quad 0
        .quad 0x00CF9A000000FFFF        /* 8: flat code */
        .quad 0x00CF92000000FFFF        /* 16: flat data */
gdt_pointer:
        .word . - gdt - 1
        .long gdt
idt_pointer:
        .word VECTORS * 8 - 1
        .long idt
        .balign 8
registers:
        .long START_EDI, START_ESI, START_EBP, 0, START_EBX, START_EDX, START_ECX, START_EAX
stack_pointer:
        .long 0
rounds: .long ROUNDS
        .balign 8
idt:    .fill VECTORS, 8, 0

        .section .fragment_end, "ax"    /* behind the fragment; a copy of it must be possible */
        .byte 0xE9
        .long fragment_returns - . - 4
