# SPDX-License-Identifier: MIT
# Accesses to pages that fit in a TLB, and to pages that do not. Sections come in pairs. The first
# section reads the pages in order until the TLB's state no longer changes. The second section
# counts one more round or several.
        .include "m5.inc"
        .set    TABLE, 0x600000         # page table of the first 2 MB of WINDOW, to 4 KB pages
        .set    FRAMES, 0x800000        # ... in memory
        .set    LARGE, WINDOW + 0x10000000  # 2 MB pages, which all map the same memory
        .set    ROUNDS, 12

        # Reads one word of each of `count` pages at a distance of `stride` bytes, and repeats this
        # `rounds` times.
        .macro  touch base, stride, count, rounds
        movl    $\rounds, %ecx
2:      movl    $\base, %ebx
        movl    $\count, %edx
1:      movl    (%rbx), %eax
        addq    $\stride, %rbx
        decl    %edx
        jnz     1b
        decl    %ecx
        jnz     2b
        .endm

        .macro  measure base, stride, count, rounds=1
        touch   \base, \stride, \count, 4
        section
        touch   \base, \stride, \count, \rounds
        section
        .endm

        # The same for code, with a jump to each page and back.
        .macro  visit base, stride, count, rounds
        movl    $\rounds, %ecx
2:      movl    $\base, %ebx
        movl    $\count, %edx
1:      leaq    3f(%rip), %rsi
        jmp     *%rbx
3:      addq    $\stride, %rbx
        decl    %edx
        jnz     1b
        decl    %ecx
        jnz     2b
        .endm

        .macro  measure_code base, stride, count, rounds=1
        visit   \base, \stride, \count, 4
        section
        visit   \base, \stride, \count, \rounds
        section
        .endm

        .globl  _start
_start: movl    $TABLE, %ebx            # present, writable, user; every second page global
        movl    $FRAMES + 7, %eax
1:      movq    %rax, (%rbx)
        addl    $0x1100, %eax
        movq    %rax, 8(%rbx)
        addl    $0x1000 - 0x100, %eax
        addl    $16, %ebx
        cmpl    $TABLE + 0x1000, %ebx
        jne     1b
        movl    $TABLE + 7, %eax
        movq    %rax, DIRECTORY
        movl    $DIRECTORY + 8 * 128, %ebx
        movl    $FRAMES + 0x87, %eax
1:      movq    %rax, (%rbx)
        addl    $8, %ebx
        cmpl    $DIRECTORY + 8 * 192, %ebx
        jne     1b
        movl    $FRAMES, %ebx           # jmp *%rsi at the start of each page
1:      movw    $0xE6FF, (%rbx)
        addl    $0x1000, %ebx
        cmpl    $FRAMES + 0x200000, %ebx
        jne     1b
        movq    %cr4, %rax              # allow global pages
        orq     $0x80, %rax
        movq    %rax, %cr4

        # Data. Sections come in pairs. The second section of each pair counts.
        measure WINDOW, 0x1000, 64              # 1: all entries of a 64-entry TLB
        measure WINDOW, 0x10000, 4              # 3: one of its 16 sets
        measure WINDOW, 0x10000, 5, ROUNDS      # 5: one page too many for the set
        measure LARGE, 0x200000, 8              # 7: all entries for large pages
        measure LARGE, 0x400000, 5, ROUNDS      # 9: one page too many for a set
        touch   WINDOW, 0x1000, 64, 4
        touch   LARGE, 0x200000, 8, 4
        section
        touch   WINDOW, 0x1000, 64, 1
        touch   LARGE, 0x200000, 8, 1
        section                                 # 11: each array has its own entries
        invlpg  WINDOW + 0x5000
        touch   WINDOW, 0x1000, 64, 1
        section                                 # 12: after a flush of one page
        movq    %cr3, %rax
        movq    %rax, %cr3
        touch   WINDOW, 0x1000, 64, 1
        section                                 # 13: after a flush of all pages that are not global

        # Code: 2 MB as 4 KB pages, and the same 2 MB as one large page. The code is not in the set
        # of this page.
        measure_code WINDOW + 0x11000, 0x8000, 4            # 15: one set of 8
        measure_code WINDOW + 0x11000, 0x8000, 5, ROUNDS    # 17: one page too many
        measure_code LARGE + 0x11000, 0x8000, 4             # 19: in a large page
        measure_code LARGE + 0x11000, 0x8000, 5, ROUNDS     # 21
        finish
