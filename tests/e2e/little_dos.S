# SPDX-License-Identifier: MIT
#
# A boot sector that stands in for DOS (test_dos_programs.py): it loads a .COM program of SECTORS
# sectors from sector FIRST of drive B, and answers each INT 21h at once. Functions 25h and 35h set
# and return a vector, function 4Ch ends the run.

        .set    SEGMENT, 0x2000

        .include "boot_sector.inc"
        movw    $dos, 0x21 * 4
        movw    %ax, 0x21 * 4 + 2
        movw    $SEGMENT, %ax
        movw    %ax, %es
        movw    $0x100, %bx
        movw    $FIRST, %si
        movw    $SECTORS, %di
load:   movw    %si, %ax
        xorw    %dx, %dx
        movw    $18, %cx                # sectors in a track
        divw    %cx
        movb    %dl, %cl
        incb    %cl                     # sector
        movb    %al, %dh
        andb    $1, %dh                 # head
        shrb    $1, %al
        movb    %al, %ch                # cylinder
        movb    $1, %dl                 # drive B
        movw    $0x0201, %ax
        int     $0x13
        jc      failed
        addw    $512, %bx
        incw    %si
        decw    %di
        jnz     load
        inb     $0x21, %al              # no tick comes into a bracket
        orb     $1, %al
        outb    %al, $0x21
        movw    $SEGMENT, %ax
        movw    %ax, %ds
        movw    %ax, %ss
        movl    $0xABCD0000, %esp       # a program must not rely on the upper half
        movw    $0xFFFE, %sp
        ljmp    $SEGMENT, $0x100

dos:    cmpb    $0x35, %ah
        je      get
        cmpb    $0x25, %ah
        je      set
        cmpb    $0x4C, %ah
        je      ends
        iretw

get:    pushw   %ds
        call    vector
        lesw    (%bx), %bx
        popw    %ds
        iretw

set:    pushw   %ds
        pushw   %bx
        movw    %ds, %cx
        call    vector
        movw    %dx, (%bx)
        movw    %cx, 2(%bx)
        popw    %bx
        popw    %ds
        iretw

vector: movw    $0, %bx                 # DS:BX is the vector AL
        movw    %bx, %ds
        movb    %al, %bl
        shlw    $2, %bx
        ret

failed: movw    $9, %ax
ends:   movzbl  %al, %edx
        movl    $0x50354C42, %eax
        movl    $5, %ecx
        cpuid
