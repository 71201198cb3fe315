# SPDX-License-Identifier: MIT
#
# A small system that measures the times of its drive and of the video memory with RDTSC
# (test_board.py). It prints a line for each measurement: clocks as a hexadecimal number. The first
# sector loads the second one.

        .set    BUFFER, 0x1000                  # 18 sectors end below 0x7C00
        .set    AREA,   0xBC00                  # segment: video memory that the screen does not show
        .set    TIMES,  256                     # accesses to video memory

        .include "boot_sector.inc"
        movb    %dl, drive
        movw    $0x0201, %ax
        movw    $0x7E00, %bx
        movw    $0x0002, %cx
        movb    $0, %dh
        int     $0x13
        jc      failed

        movw    $requests, %si
next:   lodsw                                   # function and number of sectors, as for INT 13h
        testw   %ax, %ax
        jz      video
        movw    %ax, request
        lodsw
        movw    %ax, %cx
        call    mark
        movw    request, %ax
        movw    $BUFFER, %bx
        movb    $0, %dh
        movb    drive, %dl
        int     $0x13
        jc      failed
        call    end
        jmp     next

failed: movw    $failure, %si
        call    print
        jmp     halt
video:  jmp     second

mark:   pushw   %cx
        rdtsc
        movl    %eax, start
        popw    %cx
        ret
end:    rdtsc
        subl    start, %eax
        movl    %eax, %edx
        movw    $8, %cx
        call    digits
        pushw   %si
        movw    $line, %si
        call    print
        popw    %si
        ret

        .include "print.inc"

drive:  .byte   0
request: .word  0
start:  .long   0
line:   .asciz  "\r\n"
failure: .asciz "INT 13h failed\r\n"
done:   .asciz  "the end\r\n"

        # Function, number of sectors, cylinder and sector, as for INT 13h. The first request of each
        # kind moves the head to a known place.
requests:
        .word   0x0201, 0x0001                  # sector 1
        .word   0x0201, 0x0001                  # again
        .word   0x0201, 0x0002                  # the next one
        .word   0x0212, 0x0001                  # 18 sectors
        .word   0x0201, 0x0012                  # sector 18
        .word   0x0201, 0x2801                  # cylinder 40
        .word   0x0201, 0x2801                  # again
        .word   0x0301, 0x2805                  # write sector 5
        .word   0x0301, 0x2805                  # again
        .word   0x0301, 0x2805                  # and again
        .word   0

        .org    510
        .byte   0x55, 0xAA

        # The video memory: 256 writes of 1, 2 and 4 bytes, then 256 reads of 4 bytes.
second: movw    $AREA, %ax
        movw    %ax, %es
        movw    %ax, %fs
        xorl    %eax, %eax
        .irp    store, stosb, stosw, stosl
        movw    $TIMES, %cx
        xorw    %di, %di
        call    mark
        xorl    %eax, %eax
        rep \store
        call    end
        .endr
        movw    $TIMES, %cx
        xorw    %si, %si
        call    mark
        rep lodsl %fs:(%si), %eax
        call    end
        movw    $done, %si
        call    print
halt:   cli
        hlt
        jmp     halt
        .org    1024
