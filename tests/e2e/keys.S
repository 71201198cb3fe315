# SPDX-License-Identifier: MIT
#
# A small system with a prompt, the first sector of a floppy (test_scripts.py). It shows each key
# that the BIOS reports: a character as itself, a control character as ^A to ^Z, another key by its
# scan code in angle brackets. The Enter key reads the second sector of the floppy with INT 13h and
# prints its text. The Esc key halts the machine with interrupts off.

        .set    SECOND, 0x7E00                  # the second sector in memory
        .set    TRIES,  3                       # the first read after a change of the floppy fails

        .include "boot_sector.inc"
prompt:
        movw    $ready, %si
        call    print
key:
        movb    $1, %ah                         # is there a key?
        int     $0x16
        jnz     there
        sti
        hlt                                     # the host has less work than with a loop
        jmp     key
there:
        movb    $0, %ah
        int     $0x16
        testb   %al, %al
        jz      other
        cmpb    $27, %al
        je      halt
        cmpb    $13, %al
        je      enter
        cmpb    $32, %al
        jae     echo
        pushw   %ax
        movb    $'^', %al
        call    put
        popw    %ax
        addb    $64, %al
echo:
        call    put
        jmp     key
other:
        movb    %ah, %bl
        movb    $'<', %al
        call    put
        movb    %bl, %al
        shrb    $4, %al
        call    digit
        movb    %bl, %al
        andb    $15, %al
        call    digit
        movb    $'>', %al
        jmp     echo
enter:
        movw    $TRIES, %di
again:
        movw    $0x0201, %ax                    # read one sector
        movw    $0x0002, %cx                    # cylinder 0, sector 2
        xorw    %dx, %dx                        # head 0, drive A
        movw    $SECOND, %bx
        int     $0x13
        jnc     read
        xorw    %ax, %ax                        # reset the drive
        xorw    %dx, %dx
        int     $0x13
        decw    %di
        jnz     again
        movw    $failure, %si
        call    print
        jmp     prompt
read:
        movw    $SECOND, %si
        call    print
        jmp     prompt
halt:
        movw    $halted, %si
        call    print
        cli
1:
        hlt
        jmp     1b

digit:
        addb    $'0', %al
        cmpb    $'9', %al
        jbe     put
        addb    $'a' - '0' - 10, %al
put:
        pushw   %bx
        movb    $0x0E, %ah
        movw    $7, %bx
        int     $0x10
        popw    %bx
        ret

print:
        lodsb
        testb   %al, %al
        jz      1f
        call    put
        jmp     print
1:
        ret

ready:          .asciz  "\r\n>"
failure:        .asciz  "\r\nINT 13h failed"
halted:         .asciz  "\r\nhalted"

        .org    510
        .byte   0x55, 0xAA
