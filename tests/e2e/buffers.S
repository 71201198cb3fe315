# SPDX-License-Identifier: MIT
#
# A program without operating system for test_buffers.py: markers with buffers, given as segment and
# offset of the mode that asks. Real mode, then flat 32-bit code, then virtual-8086 mode with
# paging. After each refused buffer the program writes one line with the answer, as a letter: A is
# 1.

        .include "bare.inc"
        .set    TEXT, 11
        .set    JOB_TEXT, 12
        .set    NAME, 13
        .set    DIRECTORY, 0x20000      # one directory and one table: linear = physical
        .set    TABLE, 0x21000
        .set    USUAL, 0x67             # present, writable, user, accessed, dirty
        .set    ABSENT, 0x50000
        .set    CLEAN, 0x51000
        .set    SYSTEM, 0x52000

        # DS:SI is a text of `length` bytes.
        .macro  text offset, length
        movl    $LEAF, %eax
        movl    $TEXT, %ecx
        movl    $\length, %edx
        movl    $\offset, %esi
        cpuid
        .endm

        # The engine writes the job to ES:DI, a buffer of `length` bytes.
        .macro  job offset, length
        movl    $LEAF, %eax
        movl    $JOB_TEXT, %ecx
        movl    $\length, %edx
        movl    $\offset, %edi
        cpuid
        .endm

        .macro  name phase, offset, length
        movl    $LEAF, %eax
        movl    $NAME, %ecx
        movl    $\phase, %edx
        movl    $\length, %ebx
        movl    $\offset, %esi
        cpuid
        .endm

        # Writes the refusal in EBX as a line; EAX is 0.
        .macro  refused
        pushw   %ds
        pushw   $0
        popw    %ds
        addb    %al, %bl
        addb    $'@', %bl
        movb    %bl, letter
        text    letter, 2
        popw    %ds
        .endm

        .code16
        .globl  _start
_start: cli
        xorw    %ax, %ax
        movw    %ax, %es
        movw    $0x0700, %ax
        movw    %ax, %ds
        marker  BEGIN, $1
        text    "(0xABCD0000 + real_text - 0x7000)", 10 # the upper half of ESI is not used
        marker  END, $1
        movw    $0xF000, %ax
        movw    %ax, %ds
        text    0xFFFF, 2               # 1: beyond 64 KB
        refused
        movw    $0xA000, %ax
        movw    %ax, %ds
        text    0, 4                    # 3: video memory is no RAM
        refused
        xorw    %ax, %ax
        movw    %ax, %ds
        text    0, 0x10001              # 4: longer than 64 KB
        refused
        job     buffer, 8
        job     buffer, 7               # 5: `buffers` and a zero byte need 8 bytes
        pushl   %edx                    # the length that is needed
        refused
        popl    %edx
        addb    $'0', %dl
        movb    %dl, letter
        text    letter, 2
        text    buffer, 7
        name    1, real_name, 9
        name    2, real_name, 9         # 6: the name of another phase
        refused
        name    1, other_name, 5        # 6: the phase has a name
        refused

        protect
        movw    %ax, %es
        text    0x70000000, 4           # 3: beyond the memory
        addb    $'@', %bl
        movb    %bl, letter
        text    letter, 2
        movl    $DIRECTORY, %edi
        movl    $TABLE + USUAL, (%edi)
        movl    $TABLE, %edi
        movl    $USUAL, %eax
        movl    $1024, %ecx
1:      stosl
        addl    $0x1000, %eax
        loop    1b
        movl    $0, TABLE + ABSENT / 1024
        movl    $CLEAN + USUAL - 0x40, TABLE + CLEAN / 1024
        movl    $SYSTEM + USUAL - 4, TABLE + SYSTEM / 1024
        movl    $DIRECTORY, %eax
        movl    %eax, %cr3
        movl    %cr0, %eax
        orl     $0x80000000, %eax
        movl    %eax, %cr0
        jmp     1f
1:      movl    $0x100000, %edi         # beyond the reach of 16-bit code
        movl    $0x66206F74, (%edi)     # "to f"
        movl    $0x0A74616C, 4(%edi)    # "lat\n"
        text    0x100000, 8
        movw    $32, %ax                # 16 bytes from 0
        movw    %ax, %ds
        text    8, 9                    # 1: one byte beyond the limit
        flat_data
        addb    $'@', %bl
        movb    %bl, letter
        text    letter, 2
        enter_virtual virtual

        .code16
virtual:
        marker  BEGIN, $3
        text    virtual_text, 13
        marker  END, $3
        movw    $(ABSENT - 0x1000) >> 4, %ax
        movw    %ax, %ds
        movw    %ax, %es
        text    0x0FFF, 1               # the last byte before the absent page
        text    0x0FFF, 2               # 2: absent
        refused
        job     0x0FFF, 8               # 2: absent; the byte before it stays
        refused
        movw    $CLEAN >> 4, %ax
        movw    %ax, %es
        job     0, 8                    # 2: clean
        refused
        movb    $0, %es:0
        job     0, 8                    # dirty now
        movw    $CLEAN >> 4, %ax
        movw    %ax, %ds
        text    0, 7
        movw    $SYSTEM >> 4, %ax
        movw    %ax, %ds
        text    0, 1                    # 2: not for ring 3
        refused
        xorw    %ax, %ax
        movw    %ax, %ds
        movl    $LEAF, %eax             # an operation that does not exist
        movl    $99, %ecx
        cpuid
        orl     %eax, %ebx
        marker  EXIT, %ebx
1:      jmp     1b

real_text:      .ascii "real mode\n"
virtual_text:   .ascii "virtual mode\n"
real_name:      .ascii "real mode"
other_name:     .ascii "other"
letter:         .ascii "?\n"
buffer:         .fill 8, 1, 'x'

        .balign 8
        gdt_begin
        .word   103, tss                # 24: TSS, below 64 KB
        .byte   0, 0x89, 0, 0
        .quad   0x004092000000000F      # 32: data, 16 bytes
        gdt_end
        .balign 8
tss:    .long   0, 0x5000, 16           # ESP0, SS0
        .fill   23, 4, 0
