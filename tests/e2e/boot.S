# SPDX-License-Identifier: MIT
#
# A small system that boots from a floppy, a disk or a CD-ROM: the first sector of its medium
# (test_boots_from_media.py). It prints the number of its drive, reads the second sector with INT
# 13h and prints its text, writes the third sector, executes an invalid opcode, sends a line to the
# serial port, and halts. If the text begins with "@", it then switches to a graphics mode.

        .set    SECOND, 0x7E00                  # the second sector in memory
        .set    COM1,   0x3F8
        .set    CDROM,  0xE0                    # the BIOS's number of the CD-ROM, and above

        .include "boot_sector.inc"
        movb    %dl, drive
        movw    $welcome, %si
        call    print
        movb    drive, %al
        call    print_hex
        cmpb    $CDROM, drive
        jae     probe

        movw    $0x0201, %ax                    # read one sector
        movw    $0x0002, %cx                    # cylinder 0, sector 2
        call    transfer
        movw    $SECOND, %si
        call    print
        movw    $changed, %si                   # the third sector gets a text
        movw    $SECOND + 256, %di
        movw    $changed_end - changed, %cx
        rep movsb
        movw    $0x0301, %ax                    # write one sector
        movw    $0x0003, %cx
        call    transfer

probe:                                          # an invalid opcode, as a test for a processor
        movw    $refused, 6 * 4
        movw    $0, 6 * 4 + 2
        .byte   0x0F, 0xFF                      # UD0
        movw    $unknown, %si
        call    print

        movw    $COM1 + 3, %dx
        movb    $3, %al                         # eight bits in each character
        outb    %al, %dx
        movw    $serial, %si
send:
        lodsb
        testb   %al, %al
        jz      sent
        movb    %al, %bl
        movw    $COM1 + 5, %dx
full:
        inb     %dx, %al
        testb   $0x20, %al                      # the transmitter can take a character
        jz      full
        movw    $COM1, %dx
        movb    %bl, %al
        outb    %al, %dx
        jmp     send
sent:
        cmpb    $'@', SECOND
        jne     end
        movw    $0x0013, %ax                    # 320 x 200 pixels
        int     $0x10
end:
        movw    $done, %si
        call    print
        cli
halted:
        hlt
        jmp     halted

refused:                                        # SP: the address of the invalid opcode
        pushw   %bp
        movw    %sp, %bp
        addw    $2, 2(%bp)
        popw    %bp
        iretw

transfer:                                       # AX, CX: as for INT 13h
        movw    $SECOND, %bx
        cmpb    $3, %ah
        jne     1f
        addw    $256, %bx
1:
        movb    $0, %dh
        movb    drive, %dl
        int     $0x13
        jc      failed
        ret
failed:
        movw    $failure, %si
        call    print
        jmp     end

print:
        lodsb
        testb   %al, %al
        jz      1f
        movb    $0x0E, %ah
        movw    $7, %bx
        int     $0x10
        jmp     print
1:
        ret

print_hex:
        pushw   %ax
        shrb    $4, %al
        call    digit
        popw    %ax
        andb    $15, %al
digit:
        addb    $'0', %al
        cmpb    $'9', %al
        jbe     1f
        addb    $'a' - '0' - 10, %al
1:
        movb    $0x0E, %ah
        movw    $7, %bx
        int     $0x10
        ret

drive:          .byte   0
welcome:        .asciz  "\r\nsmall system on drive "
changed:        .asciz  "written by the guest"
changed_end:
unknown:        .asciz  "\r\ninvalid opcode came back"
serial:         .asciz  "serial line works\r\n"
failure:        .asciz  "\r\nINT 13h failed"
done:           .asciz  "\r\nthe end"

        .org    510
        .byte   0x55, 0xAA
