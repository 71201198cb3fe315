# SPDX-License-Identifier: MIT
#
# A boot sector that makes calls in real mode (test_counts_by_call.py). Each round has three
# brackets around one INT each: INT 60h returns by IRET, INT 61h by RETF 2, and INT 62h makes both
# calls. Each handler prepares the registers for the end marker, so a bracket contains only the
# call. INT 21h with AH=4Bh then starts a program on another stack, and the program ends with
# AH=4Ch. At the end, an exception handler skips an invalid opcode.

        .include "bare.inc"
        .set    ROUNDS, 10
        .set    PROGRAM_STACK, 0x6000

        # The bracket around one INT.
        .macro  bracket phase vector
        movl    $\phase, phase
        marker  BEGIN, $\phase
        int     $\vector
        cpuid                           # the handler has prepared the end marker
        .endm

        .macro  hook vector handler
        movw    $\handler, \vector * 4
        movw    $0, \vector * 4 + 2
        .endm

        .include "boot_sector.inc"
        cli
        hook    0x06, skip
        hook    0x21, dos
        hook    0x60, by_iret
        hook    0x61, by_retf
        hook    0x62, nested
        sti
        movw    $ROUNDS, %bp
round:  bracket 1, 0x60
        bracket 2, 0x61
        bracket 3, 0x62
        movb    $0x4B, %ah
        int     $0x21
        decw    %bp
        jnz     round
        .byte   0x0F, 0xFF              # UD0
        movw    $text, %si
print:  lodsb
        testb   %al, %al
        jz      end
        movb    $0x0E, %ah
        movw    $7, %bx
        int     $0x10
        jmp     print
end:    cli
        hlt
        jmp     end

by_iret:
        call    prepare
        iretw
by_retf:
        call    prepare
        lretw   $2
nested: int     $0x60
        int     $0x61
        call    prepare
        iretw

dos:    cmpb    $0x4C, %ah
        je      1f
        movw    %sp, caller
        movw    $PROGRAM_STACK, %sp
        ljmp    $0, $program
1:      movw    caller, %sp
        iretw
program:
        movw    $100, %cx
1:      loop    1b
        movb    $0x4C, %ah
        int     $0x21

prepare:
        movl    $LEAF, %eax
        movl    $END, %ecx
        movl    phase, %edx
        xorl    %esi, %esi
        ret

skip:   pushw   %bp
        movw    %sp, %bp
        addw    $2, 2(%bp)
        popw    %bp
        iretw

phase:  .long   0
caller: .word   0
text:   .asciz  "\r\nthe end"

        .org    510
        .byte   0x55, 0xAA
