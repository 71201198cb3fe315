# SPDX-License-Identifier: MIT
#
# A program without operating system for test_gates.py. It makes far transfers of every kind within
# ring 0 of protected mode, and uses TR12. Each kind runs four times, in its own brackets. Phases: 1
# far CALL and RET, 2 CALL through a gate and RET, 3 CALL to a TSS and IRET, 4 INT through a task
# gate and IRET, 5 VERR and VERW, 6 and 7 moves that pair. Phase 6 has TR12.SE = 1. The exit status
# is the value of TR12 after a write that sets all its bits with a function.

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
task:   iretl                           # NT is set: return to the calling task
        jmp     task

        # No line has both data and code, because each L1 cache would invalidate the line in the
        # other one.
        .balign 32
        gdt_begin
        .word   103, first_tss          # 24: the program's own TSS, below 64 KB
        .byte   0, 0x89, 0, 0
        .word   103, second_tss         # 32: the TSS of `task`
        .byte   0, 0x89, 0, 0
        .word   target, 8, 0x8C03, 0    # 40: call gate, 3 parameters, which are not copied
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
