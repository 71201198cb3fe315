# SPDX-License-Identifier: MIT
#
# A boot sector that executes CMPXCHG8B with LOCK and a register (test_instruction_values.py).

        .include "boot_sector.inc"

        movw    $before, %si
        call    print
        .byte   0xF0, 0x0F, 0xC7, 0xC8
        movw    $after, %si
        call    print
        cli
        hlt

        .include "print.inc"

before: .asciz  "before"
after:  .asciz  "after"
