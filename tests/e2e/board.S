# SPDX-License-Identifier: MIT
#
# A small system that asks what systems of the time ask a PC (test_board.py). Each line of the screen
# has a name and hexadecimal numbers. The first sector loads the other ones.

        .set    SECTORS, 3                      # after the first one

        .macro  say text
        movw    $1f, %si
        call    print
        jmp     2f
1:      .asciz  "\r\n\text"
2:
        .endm
        .macro  show register
        movw    \register, %dx
        call    hex
        .endm
        .macro  cmos number
        movb    $\number, %al
        outb    %al, $0x70
        inb     $0x71, %al
        movb    $0, %ah
        show    %ax
        .endm

        .include "boot_sector.inc"
        movb    %dl, drive
        movw    $0x0200 + SECTORS, %ax
        movw    $0x7E00, %bx
        movw    $0x0002, %cx
        movb    $0, %dh
        int     $0x13
        jmp     msr

        .include "print.inc"

controller:                                     # AL: a command; AL: the answer of the controller
        pushw   %ax
1:      inb     $0x64, %al
        testb   $2, %al
        jnz     1b
        popw    %ax
        outb    %al, $0x64
2:      inb     $0x64, %al
        testb   $1, %al
        jz      2b
        inb     $0x60, %al
        ret

error_line:                                     # IRQ 13
        pushw   %ax
        xorb    %al, %al
        outb    %al, $0xF0
        movb    $0x20, %al
        outb    %al, $0xA0
        outb    %al, $0x20
        incw    errors
        fnclex
        popw    %ax
        iretw

drive:  .byte   0
errors: .word   0
zero:   .word   0

        .org    510
        .byte   0x55, 0xAA

        # P5_MC_ADDR and P5_MC_TYPE, the machine check registers [INTEL-DM]
msr:    say     "msr "
        xorl    %ecx, %ecx
        rdmsr
        pushl   %eax
        show    %ax
        movl    $1, %ecx
        rdmsr
        show    %ax
        popl    %eax
        xorl    %ecx, %ecx                      # Linux 2.2 writes what it has read
        xorl    %edx, %edx
        wrmsr

        # With CR0.NE = 0, an x87 error is IRQ 13.
        say     "fpu "
        movw    $error_line, 0x75 * 4
        movw    $0, 0x75 * 4 + 2
        inb     $0xA1, %al
        andb    $0xDF, %al
        outb    %al, $0xA1
        inb     $0x21, %al
        andb    $0xFB, %al
        outb    %al, $0x21
        movl    %cr0, %eax
        andl    $0xFFFFFFD1, %eax               # NE, TS, EM, MP
        movl    %eax, %cr0
        sti
        fninit
        fldcw   unmasked
        fld1
        fidivs  zero
        fwait
        nop
        show    errors
        fninit

        say     "keyboard "
        cli
        movb    $0xAA, %al                      # self test: 55h
        call    controller
        movb    $0, %ah
        show    %ax
        movb    $0xAB, %al                      # the lines of the keyboard: 0
        call    controller
        movb    $0, %ah
        show    %ax
        movb    $0xAE, %al                      # keyboard on; no answer
        outb    %al, $0x64
        sti

        say     "memory "                       # base and extended, in KB
        cmos    0x15
        cmos    0x16
        cmos    0x17
        cmos    0x18
        say     "drives "                       # floppies, disks
        cmos    0x10
        cmos    0x12
        say     "disk "                         # type, cylinders, heads, sectors
        cmos    0x19
        cmos    0x1B
        cmos    0x1C
        cmos    0x1D
        cmos    0x23
        say     "geometry "                     # of the drive of the boot: carry, CX, DX
        movb    $8, %ah
        movb    drive, %dl
        pushw   %es
        int     $0x13
        popw    %es
        pushw   %dx
        pushw   %cx
        sbbw    %ax, %ax
        show    %ax
        popw    %ax
        show    %ax
        popw    %ax
        show    %ax

        say     "apm "                          # carry, "PM", version
        movw    $0x5300, %ax
        xorw    %bx, %bx
        int     $0x15
        pushw   %ax
        pushw   %bx
        sbbw    %ax, %ax
        show    %ax
        popw    %ax
        show    %ax
        popw    %ax
        show    %ax

        say     "pnp "                          # offset of "$PnP" in segment F000, its version
        movw    $0xF000, %ax
        movw    %ax, %es
        xorw    %di, %di
1:      cmpl    $0x506E5024, %es:(%di)
        je      2f
        addw    $16, %di
        jnz     1b
        jmp     none
2:      movw    %di, %ax
        pushw   %di
        show    %ax
        popw    %di
        movb    %es:4(%di), %al
        movb    $0, %ah
        pushw   %di
        show    %ax
        popw    %di
        movw    %es:13(%di), %ax                # the entry for real mode
        movw    %ax, entry
        movw    %es:15(%di), %ax
        movw    %ax, entry + 2
        pushw   $0xF000                         # function 0: the number of device nodes
        pushw   $0
        pushw   $nodes
        pushw   $0
        pushw   $0x100
        pushw   $0
        lcall   *entry
        addw    $12, %sp
        show    %ax
none:   say     "video "                        # a display of PCI: carry, its vendor
        movw    $0xB103, %ax                    # find a device by its class
        movl    $0x030000, %ecx                 # a VGA
        xorw    %si, %si
        int     $0x1A
        pushw   %bx
        sbbw    %ax, %ax
        show    %ax
        popw    %bx
        xorw    %di, %di
        movw    $0xB109, %ax                    # read a word of its configuration
        int     $0x1A
        show    %cx
        say     "the end"
        cli
        hlt

unmasked:
        .word   0x0372                          # invalid operation and division by zero raise an error
entry:  .long   0
nodes:  .long   0
        .org    512 * (1 + SECTORS)
