# SPDX-License-Identifier: MIT
#
# A boot sector that sets a video mode and draws a pattern (test_pictures.py). The test writes lines
# in front of this file: MODE is the number of the mode for the BIOS, KIND is one of the constants
# below, and COLUMNS (bytes of a row), ROWS and BANKS (of 64 KB) are the size of the pattern.

        .set    CHAINED, 0                      # a dot is a byte
        .set    UNCHAINED, 1                    # a dot is a byte in plane x mod 4
        .set    PLANES, 2                       # a dot is a bit in each of four planes
        .set    CGA, 3                          # odd rows lie 8 KB after even rows
        .set    BANKED, 4                       # VBE, through the window at A0000
        .set    LINEAR, 5                       # VBE, at the address of the frame buffer
        .set    STEP, 0x1234                    # what the pattern adds from one bank to the next

        .include "boot_sector.inc"
        cld
.if MODE < 0x100
        movw    $MODE, %ax
.else
        movw    $0x4F02, %ax
  .if KIND == LINEAR
        movw    $MODE | 0x4000, %bx
  .else
        movw    $MODE, %bx
  .endif
.endif
        int     $0x10

.if KIND == PLANES || KIND == CGA               # colour i of the attribute controller is i
        xorw    %bx, %bx
1:
        movw    $0x1000, %ax
        int     $0x10
        addw    $0x0101, %bx
        cmpb    $16, %bl
        jne     1b
.endif
        movw    $0x3C8, %dx                     # colour i of the DAC is 3i, 5i, i/4 (6 bits each)
        xorw    %ax, %ax
        outb    %al, %dx
        incw    %dx
        xorw    %cx, %cx
1:
.irp factor, 3, 5
        movb    $\factor, %al
        mulb    %cl
        andb    $63, %al
        outb    %al, %dx
.endr
        movb    %cl, %al
        shrb    $2, %al
        outb    %al, %dx
        incb    %cl
        jnz     1b

        movw    $0xA000, %ax
        movw    %ax, %es
        xorw    %di, %di

.if KIND == CHAINED                             # colour x + y
        xorw    %dx, %dx
1:
        movw    $COLUMNS, %cx
        movb    %dl, %al
2:
        stosb
        incb    %al
        loop    2b
        incw    %dx
        cmpw    $ROWS, %dx
        jne     1b
.endif

.if KIND == UNCHAINED                           # colour x + y
        movw    $0x3C4, %dx
        movw    $0x0604, %ax
        outw    %ax, %dx
        movw    $0x3D4, %dx
        movw    $0x0014, %ax
        outw    %ax, %dx
        movw    $0xE317, %ax
        outw    %ax, %dx
        xorw    %bx, %bx                        # the plane
1:
        call    choose
        xorw    %dx, %dx
2:
        movw    $COLUMNS, %cx
        movb    %dl, %al
        addb    %bl, %al
3:
        stosb
        addb    $4, %al
        loop    3b
        incw    %dx
        cmpw    $ROWS, %dx
        jne     2b
        incw    %bx
        cmpw    $4, %bx
        jne     1b
.endif

.if KIND == PLANES                              # byte c of row y: 4 dots of colour c + y, 4 of the
        xorw    %bx, %bx                        # colour with the opposite bits
1:
        call    choose
        xorw    %dx, %dx
2:
        movw    %dx, %si
        movw    $COLUMNS, %bp
3:
        movb    $0x0F, %al
        btw     %bx, %si
        jnc     4f
        notb    %al
4:
        stosb
        incw    %si
        decw    %bp
        jnz     3b
        incw    %dx
        cmpw    $ROWS, %dx
        jne     2b
        incw    %bx
        cmpw    $4, %bx
        jne     1b
.endif

.if KIND == CGA                                 # byte i: the bytes of i, added without carry
        movw    $0xB800, %ax
        movw    %ax, %es
1:
        movw    %di, %ax
        xorb    %ah, %al
        stosb
        cmpw    $0x4000, %di
        jne     1b
.endif

.if KIND == BANKED                              # the word at offset i of bank b: i + b * STEP
        pushw   %es
        xorw    %ax, %ax
        movw    %ax, %es
        movw    $0x4F01, %ax                    # the description of the mode
        movw    $MODE, %cx
        movw    $0x8000, %di
        int     $0x10
        popw    %es
        xorw    %di, %di
        movw    $64, %ax
        divb    0x8000 + 4                      # the unit of the window's position, in KB
        xorb    %ah, %ah
        movw    %ax, 0x9000                     # the BIOS changes BP
        xorw    %cx, %cx
        xorw    %dx, %dx
        xorw    %si, %si
1:
        pushw   %cx
        pushw   %dx
        movw    $0x4F05, %ax
        xorw    %bx, %bx
        int     $0x10
        popw    %dx
        popw    %cx
2:
        movw    %si, %ax
        addw    %di, %ax
        stosw
        testw   %di, %di
        jnz     2b
        addw    $STEP, %si
        addw    0x9000, %dx
        incw    %cx
        cmpw    $BANKS, %cx
        jne     1b
.endif

.if KIND == LINEAR                              # the same
        inb     $0x92, %al                      # switch address line 20 on
        orb     $2, %al
        outb    %al, $0x92
        xorw    %ax, %ax
        movw    %ax, %es
        movw    $0x4F01, %ax                    # the description of the mode
        movw    $MODE, %cx
        movw    $0x8000, %di
        int     $0x10
        movl    0x8000 + 0x28, %esi             # the address of the frame buffer
        cli
        lgdt    table
        movl    %cr0, %eax
        incw    %ax
        movl    %eax, %cr0
        movw    $8, %bx
        movw    %bx, %gs                        # the limit stays after the return to real mode
        decw    %ax
        movl    %eax, %cr0
        xorl    %edi, %edi
1:
        movl    %edi, %eax
        shrl    $16, %eax
        imulw   $STEP, %ax, %ax
        addw    %di, %ax
        movw    %ax, %gs:(%esi, %edi)
        addl    $2, %edi
        cmpl    $BANKS << 16, %edi
        jne     1b
.endif
        cli
1:
        hlt
        jmp     1b

choose:                                         # the sequencer writes to plane BX only
        movw    $0x3C4, %dx
        movb    %bl, %cl
        movw    $0x0102, %ax
        shlb    %cl, %ah
        outw    %ax, %dx
        xorw    %di, %di
        ret

        .balign 8
segments:
        .quad   0, 0x00CF92000000FFFF           # data, 4 GB
table:
        .word   . - segments - 1
        .long   segments

        .org    510
        .byte   0x55, 0xAA
