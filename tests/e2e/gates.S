# SPDX-License-Identifier: MIT
#
# A program without operating system for test_gates.py: far transfers of every kind within ring 0
# of protected mode, each in a bracket of its own and four times over, and TR12.
# Phase 1 far CALL and RET, 2 CALL through a gate and RET, 3 CALL to a TSS and IRET, 4 INT through a
# task gate and IRET, 5 VERR and VERW, 6 and 7 moves that pair, the first with TR12.SE = 1. Exit
# status: TR12 as read back with all its bits that do something set.

        .include "bare.inc"
        .set    TR12, 0x0E
        .set    SE, 4

        .macro  tr12 value
        movl    $TR12, %ecx
        movl    $\value, %eax
        xorl    %edx, %edx
        wrmsr
        .endm

        .code16
        .globl  _start
_start: cli
        lidtl   idt_pointer
        caches_on
        protect
        movw    $24, %ax
        ltr     %ax

        movl    $4, %edi
again:  marker  BEGIN, $1
        lcall   $8, $target
        marker  END, $1
        marker  BEGIN, $2
        lcall   $40, $0
        marker  END, $2
        marker  BEGIN, $3
        lcall   $32, $0
        marker  END, $3
        marker  BEGIN, $4
        int     $0x30
        marker  END, $4
        movw    $16, %bx
        marker  BEGIN, $5
        verr    %bx
        verw    %bx
        marker  END, $5
        tr12    SE
        marker  BEGIN, $6
        movl    %esi, %ebp
        movl    %edi, %edx
        marker  END, $6
        tr12    0
        marker  BEGIN, $7
        movl    %esi, %ebp
        movl    %edi, %edx
        marker  END, $7
        decl    %edi
        jnz     again

        tr12    0xD
        rdmsr
        movl    %eax, %ebx
        marker  EXIT, %ebx
1:      jmp     1b

        .balign 32
target: lret

        .balign 32
task:   iretl                           # NT is set: back to the task that came
        jmp     task

        # No data in a line with code: the two L1 caches would take it from each other.
        .balign 32
        gdt_begin
        .word   103, first_tss          # 24: the program's own TSS, below 64 KB
        .byte   0, 0x89, 0, 0
        .word   103, second_tss         # 32: that of `task`
        .byte   0, 0x89, 0, 0
        .word   target, 8, 0x8C03, 0    # 40: call gate, 3 parameters that stay where they are
        gdt_end
idt_pointer:
        .word   0x31 * 8 - 1
        .long   idt

        .balign 32
first_tss:
        .fill   26, 4, 0

        .balign 32
second_tss:
        .fill   8, 4, 0
        .long   task, 2                 # EIP, EFLAGS
        .fill   4, 4, 0
        .long   0x6000, 0, 0, 0         # ESP, EBP, ESI, EDI
        .long   16, 8, 16, 16           # ES, CS, SS, DS
        .fill   4, 4, 0

        .balign 32
idt:    .fill   0x30, 8, 0
        .word   0, 32, 0x8500, 0        # task gate
