# SPDX-License-Identifier: MIT
#
# A small system with a driver for the PS/2 mouse, the first sector of a floppy (test_mouse.py). It
# asks the BIOS for the packets of the mouse (INT 15h, functions C205h, C207h and C200h; IBM PS/2
# BIOS Interface Technical Reference). After each packet it prints the sum of all motions to the
# right, the sum of all motions upwards, and the buttons. A key switches the mouse on. After each line,
# the first character of the screen has the next background colour: blue, green, cyan, red.

        .include "boot_sector.inc"
        movw    $off, %si
        call    line
        movb    $0, %ah
        int     $0x16
        movw    $0xC205, %ax                    # packets of three bytes
        movb    $3, %bh
        int     $0x15
        movw    $0xC207, %ax
        movw    $packet, %bx
        int     $0x15
        movw    $0xC200, %ax
        movb    $1, %bh
        int     $0x15
        movw    $on, %si
        call    line
1:      sti
        hlt
        jmp     1b

# The BIOS calls this: status, X and Y are words above the return address and a zero.
packet: pushw   %bp
        movw    %sp, %bp
        pushaw
        pushw   %ds
        xorw    %ax, %ax
        movw    %ax, %ds
        movw    12(%bp), %cx                    # bit 4 and 5: the motions are negative
        movb    10(%bp), %al
        movb    $0, %ah
        testb   $0x10, %cl
        jz      2f
        movb    $0xFF, %ah
2:      addw    %ax, right
        movb    8(%bp), %al
        movb    $0, %ah
        testb   $0x20, %cl
        jz      3f
        movb    $0xFF, %ah
3:      addw    %ax, up
        movw    right, %dx
        call    hex
        movw    up, %dx
        call    hex
        movw    %cx, %dx
        andw    $7, %dx
        call    hex
        movw    $end, %si
        call    line
        popw    %ds
        popaw
        popw    %bp
        lretw

        .include "print.inc"

line:   call    print
        pushw   %es
        movw    $0xB800, %ax                    # video memory
        movw    %ax, %es
        addb    $0x10, colour
        movb    colour, %al
        movb    %al, %es:1
        popw    %es
        ret

colour: .byte   0x07                            # grey on black
right:  .word   0
up:     .word   0
off:    .asciz  "mouse off"
on:     .ascii  "\r\nmouse on"
end:    .asciz  "\r\n"

        .org    510
        .byte   0x55, 0xAA
