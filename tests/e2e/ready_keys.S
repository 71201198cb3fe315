# SPDX-License-Identifier: MIT
#
# A program without operating system for test_script_beside_program.py. It switches the video card to
# 640 x 480 dots of 8 bits [VBE 2.0, function 02h] and executes the ready marker. Then it writes each
# key that the BIOS reads to the output of the run, until the Enter key ends the run.

        .include "bare.inc"
        .set    READY, 1
        .set    OUTPUT, 8
        .set    ONE_BYTE, 0x101         # of standard output

        .macro  write character
        movzbl  \character, %edx
        movl    $LEAF, %eax
        movl    $OUTPUT, %ecx
        movl    $ONE_BYTE, %esi
        cpuid
        .endm

        .code16
        .globl  _start
_start: sti
        movw    $0x4F02, %ax
        movw    $0x101, %bx
        int     $0x10
        marker  READY, $0
        movb    $'>', key
        jmp     2f
1:      movb    $0, %ah
        int     $0x16
        movb    %al, key
        cmpb    $'\r', key
        jne     2f
        movb    $'\n', key
2:      write   key
        cmpb    $'\n', key
        jne     1b
        marker  EXIT, $0

key:    .byte   0
