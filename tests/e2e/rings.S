# SPDX-License-Identifier: MIT
#
# gem5/rings.S for our own engine. This code sets up the state in which gem5 enters a program, and
# uses markers as sections.
        .include "bare.inc"
        .set    ENGINE, 1
        .set    PML4, 0x70000
        .set    DIRECTORIES, 0x72000    # four page directories, for 4 GB
        .set    TABLE, 0x27             # present, writable, user, accessed
        .set    LARGE, 0xE7             # ... dirty, and large
        .set    CODE64, 24
        .set    phase, 0                # phase of the section

        .code16
        .globl  _start
_start: cli
        lgdtl   first_gdt_pointer
        movl    %cr0, %eax
        orl     $1, %eax
        movl    %eax, %cr0
        ljmpl   $8, $1f
        .code32
1:      flat_data
        movw    %ax, %es
        movw    %ax, %ss
        movl    $PML4, %edi
        xorl    %eax, %eax
        movl    $0x6000 / 4, %ecx
        rep stosl
        movl    $PML4 + 0x1000 + TABLE, PML4
        movl    $DIRECTORIES + TABLE, PML4 + 0x1000
        movl    $DIRECTORIES + 0x1000 + TABLE, PML4 + 0x1008
        movl    $DIRECTORIES + 0x2000 + TABLE, PML4 + 0x1010
        movl    $DIRECTORIES + 0x3000 + TABLE, PML4 + 0x1018
        movl    $DIRECTORIES, %edi
        movl    $LARGE, %eax
1:      movl    %eax, (%edi)
        addl    $8, %edi
        addl    $0x200000, %eax
        jnc     1b
        movl    %cr4, %eax
        orl     $0x220, %eax            # PAE, OSFXSR
        movl    %eax, %cr4
        movl    $PML4, %eax
        movl    %eax, %cr3
        movl    $0xC0000080, %ecx       # EFER: long mode
        movl    $0x101, %eax
        xorl    %edx, %edx
        wrmsr
        movl    %cr0, %eax
        andl    $0x9FFFFFFF, %eax       # caches
        orl     $0x80000000, %eax       # paging
        movl    %eax, %cr0
        ljmpl   $CODE64, $program

        .balign 8
first_gdt:
        .quad   0
        .quad   0x00CF9A000000FFFF      # 8: flat 32-bit code
        .quad   0x00CF92000000FFFF      # 16: flat data
        .quad   0x00209A0000000000      # 24: 64-bit code
first_gdt_pointer:
        .word   . - first_gdt - 1
        .long   first_gdt

        .code64
        # A marker that preserves all registers except %rsi. It takes SAVED instructions, and 4 of
        # them come after the marker itself.
        .macro  mark op
        movq    %rax, %r8
        movq    %rcx, %r9
        movq    %rdx, %r10
        movq    %rbx, %r12
        marker  \op, $phase
        movq    %r8, %rax
        movq    %r9, %rcx
        movq    %r10, %rdx
        movq    %r12, %rbx
        .endm

        .macro  section
        .if     phase
        mark    END
        .endif
        .set    phase, phase + 1
        mark    BEGIN
        .endm

        .macro  finish
        mark    END
        marker  EXIT, $0
        .endm

        .include "gem5/rings.S"
