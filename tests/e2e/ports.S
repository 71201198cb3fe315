# SPDX-License-Identifier: MIT
#
# Executes a list of port accesses, which the next four sectors of the floppy have: OUT (1, port, byte),
# IN (2, port), a delay (3, loops of the instruction LOOP), IN until the masked byte has a value (4,
# port, mask, value), the low half of the time-stamp counter (5), and the end (0). Ports have one byte.
# The bytes that IN read and those of the counter are on the screen, as hexadecimal digits.

        .include "boot_sector.inc"
        movw    $0x0204, %ax
        movw    $0x7E00, %bx
        movw    $0x0002, %cx
        movb    $0, %dh
        int     $0x13
        cli                                     # the tick would read the timer
        movw    $0x7E00, %si
        movw    $0x9000, %di
next:   lodsb
        decb    %al
        js      show
        jz      write
        decb    %al
        jz      read
        decb    %al
        jz      delay
        decb    %al
        jz      until
        rdtsc
        stosl
        jmp     next
until:  lodsb
        movzbw  %al, %dx
        lodsw                                   # AL: mask, AH: value
        movw    %ax, %bx
1:      inb     %dx, %al
        andb    %bl, %al
        cmpb    %bh, %al
        jne     1b
        jmp     next
delay:  lodsw
        movw    %ax, %cx
1:      loop    1b
        jmp     next
write:  lodsb
        movb    %al, %dl
        lodsb
        movb    $0, %dh
        outb    %al, %dx
        jmp     next
read:   lodsb
        movb    %al, %dl
        movb    $0, %dh
        inb     %dx, %al
        stosb
        jmp     next

show:   movb    $0x34, %al                      # the counter of the tick, as the BIOS sets it
        outb    %al, $0x43
        movb    $0, %al
        outb    %al, $0x40
        outb    %al, $0x40
        sti
        movw    %di, %bp
        movw    $0x9000, %di
2:      cmpw    %bp, %di
        jae     done
        movb    (%di), %dl
        incw    %di
        shll    $24, %edx
        movw    $2, %cx
        call    digits
        movb    $' ', %al
        call    put
        testw   $15, %di
        jnz     2b
        movw    $line, %si
        call    print
        jmp     2b
done:   movw    $text, %si
        call    print
        hlt

        .include "print.inc"
line:   .asciz  "\r\n"
text:   .asciz  "\r\nthe end"
