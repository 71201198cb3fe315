# SPDX-License-Identifier: MIT
#
# Option ROM for guests that boot from their own media: switches the caches on.
#
# A BIOS of 1994 has switched the caches on (CR0.CD = NW = 0) before it boots. The emulator's BIOS
# leaves them off, as after reset. The BIOS finds the ROM by its 0x55 0xAA header, far-calls offset
# 3, and then boots from a floppy, a CD-ROM or a disk. Assembled for offset 0 of its own segment.

        .code16
        .set    ROM_BLOCKS,     4               # length in units of 512 bytes

        .text
        .globl  _start
_start:
        .byte   0x55, 0xAA, ROM_BLOCKS
entry:                                          # offset 3, fixed by the ROM convention
        pushl   %eax
        movl    %cr0, %eax
        andl    $0x9FFFFFFF, %eax
        movl    %eax, %cr0
        popl    %eax
        lretw
