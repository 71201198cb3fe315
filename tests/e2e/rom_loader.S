# SPDX-License-Identifier: MIT
#
# A boot sector that replaces the BIOS by the 128 KB that follow on the floppy: it copies them into
# the shadow RAM at E0000h, protects it against writes, and starts at F000:FFF0 as after a reset
# (test_instruction_values.py). All interrupts are masked, because a BIOS finds no device that is
# initialised. The address of the copy is such that the memory below stays zero.

        .set    SECTORS, 18                     # of a track
        .set    COUNT, 256
        .set    COPY, 0x5000                    # a segment
        .set    ROM, 0xE000
        .set    MAP, 0x80000058                 # PAM0 to PAM3 of the 82434NX and the 82437FX
        .set    UPPER_MAP, 0x8000005C           # PAM4 to PAM6
        .set    READ, 0x11                      # of both halves: reads from memory
        .set    READ_AND_WRITE, 0x33

        .include "boot_sector.inc"

        movw    $COPY, %ax
        movw    %ax, %es
        movw    $1, %si
sector: movw    %si, %ax
        movb    $SECTORS, %cl
        divb    %cl
        movb    %ah, %cl
        incb    %cl                             # the sector, from 1
        xorb    %ah, %ah
        movb    $2, %ch
        divb    %ch
        movb    %al, %ch                        # the cylinder
        movb    %ah, %dh                        # the head
        movb    $0, %dl
        xorw    %bx, %bx
        movw    $0x0201, %ax
        int     $0x13
        jc      failed
        movw    %es, %ax
        addw    $0x20, %ax
        movw    %ax, %es
        incw    %si
        cmpw    $COUNT, %si
        jbe     sector

        cli
        movb    $0xFF, %al
        outb    %al, $0x21
        outb    %al, $0xA1
        movb    $READ_AND_WRITE, %bl
        call    map
        movw    $COPY, %ax
        movw    $ROM, %dx
half:   movw    %ax, %ds
        movw    %dx, %es
        xorw    %si, %si
        xorw    %di, %di
        movw    $0x8000, %cx
        rep     movsw
        addw    $0x1000, %ax
        addw    $0x1000, %dx
        jnc     half
        movb    $READ, %bl
        call    map
        ljmp    $0xF000, $0xFFF0

# Sets the attributes of the memory from E0000h to BL, and of that from F0000h to its upper half.
map:    movl    $MAP, %eax
        movw    $0xCF8, %dx
        outl    %eax, %dx
        movw    $0xCFD, %dx
        movb    %bl, %al
        andb    $0xF0, %al
        outb    %al, %dx
        movl    $UPPER_MAP, %eax
        movw    $0xCF8, %dx
        outl    %eax, %dx
        movw    $0xCFE, %dx
        movb    %bl, %al
        outb    %al, %dx
        incw    %dx
        outb    %al, %dx
        ret

failed: hlt
