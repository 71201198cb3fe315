# SPDX-License-Identifier: MIT
#
# A program without operating system for test_long.py, in 64-bit code. Virtual addresses equal
# physical addresses. 4 KB pages map the first 2 MB, and two large pages map the next 4 MB. Accessed
# and dirty bits are set at the start, so that only the program itself writes. Phases: 1 accesses of
# all sizes, 2 SYSCALL and SYSRET, 3 INT and IRETQ, 4 a page fault, 5 to 8 TLBs, 9 lines of L1D.
# Phases 1 to 4 run twice. In the second round all pages are in the TLBs.

        .include "bare.inc"

        .set    PML4, 0x10000
        .set    PDPT, 0x11000
        .set    PD, 0x12000
        .set    PT, 0x13000
        .set    TABLE, 0x27             # present, writable, user, accessed
        .set    PAGE, 0x67              # ... and dirty
        .set    LARGE, 0xE7             # ... and large
        .set    GLOBAL, 0x100
        .set    SET, 0x10000            # bytes from a page to the next page of its set: 16 pages
        .set    SMALL, 0x100000         # a page of set 0
        .set    GLOBAL_PAGE, 0x180000
        .set    COLD, 0x190000
        .set    ABSENT, 0x600000
        .set    CODE64, 24
        .set    STACK0, 0x7000

        .macro  write_msr number, low, high
        movl    $\number, %ecx
        movl    $\low, %eax
        movl    $\high, %edx
        wrmsr
        .endm

        .macro  reload_cr3
        movq    %cr3, %rax
        movq    %rax, %cr3
        .endm

        .macro  touch_set pages
        .set    page, 0
        .rept   \pages
        movq    SMALL + page * SET, %rax
        .set    page, page + 1
        .endr
        .endm

        .code16
        .globl  _start
_start: cli
        protect
        movl    $PML4, %edi
        xorl    %eax, %eax
        movl    $4 * 0x1000 / 4, %ecx
        rep stosl
        movl    $PDPT + TABLE, PML4
        movl    $PD + TABLE, PDPT
        movl    $PT + TABLE, PD
        movl    $0x200000 + LARGE, PD + 8
        movl    $0x400000 + LARGE, PD + 16
        movl    $PT, %edi
        movl    $PAGE, %eax
1:      movl    %eax, (%edi)
        addl    $8, %edi
        addl    $0x1000, %eax
        cmpl    $0x200000, %eax
        jb      1b
        orl     $GLOBAL, PT + GLOBAL_PAGE / 0x1000 * 8

        movl    %cr4, %eax
        orl     $0x2A0, %eax            # PAE, PGE, OSFXSR
        movl    %eax, %cr4
        movl    $PML4, %eax
        movl    %eax, %cr3
        write_msr 0xC0000080, 0x101, 0  # EFER: SYSCALL, long mode
        movl    %cr0, %eax
        andl    $0x9FFFFFFF, %eax       # caches
        orl     $0x80000000, %eax       # paging
        movl    %eax, %cr0
        ljmpl   $CODE64, $long

        .code64
long:   movl    $STACK0, %esp
        lidtq   idt_pointer
        movw    $56, %ax
        ltr     %ax
        write_msr 0xC0000081, 0, (32 << 16 | CODE64)    # STAR
        write_msr 0xC0000082, system_call, 0            # LSTAR
        write_msr 0xC0000084, 0, 0                      # flags that SYSCALL clears

        movl    $2, %ebp
1:      marker  BEGIN, $1
        movq    buffer(%rip), %rax
        movq    %rax, buffer + 8(%rip)
        movl    buffer + 6(%rip), %eax          # within a line
        movq    buffer + 28(%rip), %rax         # in two lines
        movdqa  buffer(%rip), %xmm0             # 16 bytes
        movups  %xmm0, buffer + 24(%rip)        # 8 in each of two lines
        addq    $1, buffer(%rip)
        pushq   %rax
        popq    %r8
        call    nothing
        leaq    buffer(%rip), %rsi
        leaq    buffer + 64(%rip), %rdi
        movl    $4, %ecx
        rep movsq
        movabsq buffer, %rax
        marker  END, $1
        decl    %ebp
        jnz     1b

        movl    $user, %ecx
        movl    $2, %r11d               # flags
        sysretq

user:   movl    $0x6000, %esp           # its own stack
        movl    $2, %ebp
1:      marker  BEGIN, $2
        movl    $5, %r14d
2:      syscall
        decl    %r14d
        jnz     2b
        marker  END, $2
        marker  BEGIN, $3
        int     $0x30
        marker  END, $3
        movl    $ABSENT, %r14d
        marker  BEGIN, $4
        movq    (%r14), %rax
        marker  END, $4
        decl    %ebp
        jnz     1b
        int     $0x31

        .org    0x400                   # its own page
kernel: marker  BEGIN, $5               # four pages in a set of four ways
        reload_cr3
        touch_set 4
        touch_set 4
        marker  END, $5
        marker  BEGIN, $6               # five pages
        reload_cr3
        touch_set 5
        touch_set 5
        marker  END, $6
        marker  BEGIN, $7               # two large pages
        reload_cr3
        movq    0x200000, %rax
        movq    0x3FFFF8, %rax
        movq    0x400000, %rax
        movq    0x200000, %rax
        marker  END, $7
        movq    GLOBAL_PAGE, %rax
        marker  BEGIN, $8               # only one of two pages stays
        reload_cr3
        movq    GLOBAL_PAGE, %rax
        movq    SMALL, %rax
        marker  END, $8
        marker  BEGIN, $9
        .set    offset, 0
        .rept   8
        movq    COLD + offset, %rax
        .set    offset, offset + 8
        .endr
        marker  END, $9
        marker  EXIT, $0

nothing:
        ret
system_call:
        sysretq
interrupt:
        iretq
page_fault:                             # skip the instruction, 3 bytes
        addq    $8, %rsp
        addq    $3, (%rsp)
        iretq

        .org    0x1400                  # the same
buffer: .fill   16, 8, 0

        gdt_begin
        .quad   0x00AF9B000000FFFF      # 24: 64-bit code, ring 0
        .quad   0x00CF93000000FFFF      # 32: data
        .quad   0x00CFF3000000FFFF      # 40: data, ring 3
        .quad   0x00AFFB000000FFFF      # 48: 64-bit code, ring 3
        .word   103, tss                # 56: TSS, below 64 KB
        .byte   0, 0x89, 0, 0
        .quad   0
        gdt_end
idt_pointer:
        .word   0x32 * 16 - 1
        .quad   idt

        .balign 16
tss:    .long   0
        .quad   STACK0                  # RSP0
        .fill   23, 4, 0

        .macro  gate handler, type
        .word   \handler, CODE64, \type, 0
        .quad   0
        .endm
        .balign 16
idt:    .fill   14 * 16, 1, 0
        gate    page_fault, 0x8E00
        .fill   (0x30 - 15) * 16, 1, 0
        gate    interrupt, 0xEE00
        gate    kernel, 0xEE00
