# SPDX-License-Identifier: MIT
#
# A small system with a driver for a serial mouse at COM2, the first sector of a floppy
# (test_mouse.py). A key switches the mouse on: 1200 bits in a second, seven data bits, DTR and RTS.
# The mouse then sends an M, and three bytes for each report [Microsoft serial mouse]. After each
# report the system prints the sum of all motions to the right, the sum of all motions down, and the
# buttons.

        .set    COM2,   0x2F8

        .include "boot_sector.inc"
        movw    $off, %si
        call    print
        movb    $0, %ah
        int     $0x16
        movw    $COM2 + 3, %dx
        movb    $0x82, %al                      # the next two ports set the speed
        outb    %al, %dx
        movw    $COM2, %dx
        movw    $96, %ax                        # 115,200 / 1200
        outb    %al, %dx
        incw    %dx
        xchgb   %al, %ah
        outb    %al, %dx
        movw    $COM2 + 3, %dx
        movb    $2, %al                         # seven data bits
        outb    %al, %dx
        incw    %dx
        movb    $1, %al                         # DTR, then RTS, too: the mouse has power
        outb    %al, %dx
        movb    $3, %al
        outb    %al, %dx
        call    get
        movw    $on, %si
        cmpb    $'M', %al
        je      1f
        movw    $wrong, %si
1:      call    print

report: call    get
        testb   $0x40, %al                      # the first byte of a report
        jz      report
        movb    %al, %bl
        call    get
        movb    %al, %bh
        movb    %bl, %ah                        # bits 6 and 7 of the motion to the right
        shlb    $6, %ah
        orb     %ah, %al
        cbtw
        addw    %ax, right
        call    get
        movb    %bl, %ah                        # and of the motion down
        andb    $0x0C, %ah
        shlb    $4, %ah
        orb     %ah, %al
        cbtw
        addw    %ax, down
        pushw   %bx
        movw    right, %dx
        call    hex
        movw    down, %dx
        call    hex
        popw    %dx
        andw    $0x30, %dx                      # 2: left, 1: right
        shrw    $4, %dx
        call    hex
        movw    $end, %si
        call    print
        jmp     report

get:    movw    $COM2 + 5, %dx
1:      inb     %dx, %al
        testb   $1, %al
        jz      1b
        movw    $COM2, %dx
        inb     %dx, %al
        ret

        .include "print.inc"

right:  .word   0
down:   .word   0
off:    .asciz  "\r\nmouse off\r\n"
on:     .asciz  "mouse on\r\n"
wrong:  .asciz  "no mouse\r\n"
end:    .asciz  "\r\n"
