# SPDX-License-Identifier: MIT
#
# A boot sector that makes errors of the x87 with CR0.NE = 0, as DOS has it (test_instruction_values.py). It
# prints how often interrupt 13 came before certain points, and what was in memory then.

        .include "boot_sector.inc"

        movw    $handler, 0x75 * 4
        movw    $0, 0x75 * 4 + 2
        inb     $0xA1, %al
        andb    $0xDF, %al                      # IRQ 13
        outb    %al, $0xA1
        inb     $0x21, %al
        andb    $0xFB, %al                      # the second controller
        outb    %al, $0x21
        movl    %cr0, %eax
        andl    $0xFFFFFFD1, %eax               # NE, TS, EM, MP
        movl    %eax, %cr0
        sti

        # A division is reported before the next waiting instruction, which has not stored yet.
        movw    $0x35F, control                 # P is not masked
        call    divide
        movw    count, %dx                      # 0
        call    hex
        fstpt   stored
        movw    count, %dx                      # 1
        call    hex
        movw    copy, %dx                       # 0: before the store
        call    hex
        movw    stored + 8, %dx                 # 3ffd: 1/3
        call    hex

        # The handler writes to port F0h and leaves the error: IGNNE# lets the instruction store.
        movb    $1, leave
        movw    $0, stored + 8
        call    divide
        fstpt   stored
        movw    count, %dx                      # 2
        call    hex
        movw    stored + 8, %dx                 # 3ffd
        call    hex
        movb    $0, leave
        fnclex

        # Without a waiting instruction, invalid operands of FSIN are reported, those of FADD are not.
        movw    $0x37E, control                 # I is not masked
        fninit
        fldcw   control
        fldl    infinite
        fsin
        nop
        nop
        movw    count, %dx                      # 3
        call    hex
        fninit
        fldcw   control
        fldl    infinite
        fsubl   infinite
        nop
        nop
        movw    count, %dx                      # 3
        call    hex
        fwait
        movw    count, %dx                      # 4
        call    hex
        movw    $done, %si
        call    print
        cli
        hlt

divide: fninit
        fldcw   control
        fld1
        fidivs  three
        nop
        nop
        ret

handler:
        pushw   %ax
        incw    count
        movw    stored + 8, %ax
        movw    %ax, copy
        xorb    %al, %al
        outb    %al, $0xF0
        cmpb    $0, leave
        jne     1f
        fnclex
1:      movb    $0x20, %al
        outb    %al, $0xA0
        outb    %al, $0x20
        popw    %ax
        iretw

        .include "print.inc"

control:  .word 0
three:    .word 3
count:    .word 0
copy:     .word 0xCCCC
leave:    .byte 0
infinite: .long 0, 0x7FF00000
stored:   .fill 10, 1, 0
done:     .asciz "the end"
