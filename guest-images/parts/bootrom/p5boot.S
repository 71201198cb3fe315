# SPDX-License-Identifier: MIT
#
# p5boot: option ROM that boots a p5lab guest, as the boot ROM of a network card would.
#
# The BIOS finds the ROM by its 0x55 0xAA header (scan of C8000-E0000 in steps of 2 KB, after the
# drives are initialised) and far-calls offset 3. The ROM requests the guest from the engine (marker
# op 9). The engine copies the guest's files into memory, which takes no modelled time. It answers
# with the register values for the guest's entry. The ROM boots here and not at INT 19h, which also
# avoids the wait of the BIOS's boot menu. Without an engine the ROM returns, and the BIOS boots
# from its own devices.
#
# build_bootrom.py defines the names P5_* of workloads/lib/marker_numbers.h. Assembled for offset 0
# of its own segment.

        .code16
        .set    ROM_BLOCKS,     4               # length in units of 512 bytes

        .text
        .globl  _start
_start:
        .byte   0x55, 0xAA, ROM_BLOCKS
entry:                                          # offset 3, fixed by the ROM convention
        pushfl
        pushal

        movl    $P5_MARKER_LEAF, %eax
        movl    $P5_OP_DETECT, %ecx
        xorl    %edx, %edx
        xorl    %esi, %esi
        cpuid
        cmpl    $1, %eax
        jne     no_engine
        cmpl    $P5_MARKER_MAGIC, %ebx
        jne     no_engine

        movl    $P5_MARKER_LEAF, %eax
        movl    $P5_OP_BOOTROM, %ecx
        xorl    %edx, %edx
        xorl    %esi, %esi
        cpuid                                   # EAX 1, EBX CS:IP, CX data segments, DX SP
        cmpl    $1, %eax
        jne     no_engine

        cli
        cld
        movw    %cx, %ss                        # the next instruction runs without interrupts
        movzwl  %dx, %esp
        movw    %cx, %ds
        movw    %cx, %es
        movw    %cx, %fs
        movw    %cx, %gs
        pushl   %ebx                            # high word CS, low word IP
        # A BIOS of 1994 has switched the caches on by now (CR0.CD = NW = 0). The emulator's BIOS
        # leaves them off, as after reset. Without this code the kernel would be unpacked with the
        # caches off.
        movl    %cr0, %eax
        andl    $0x9FFFFFFF, %eax
        movl    %eax, %cr0
        xorl    %eax, %eax
        xorl    %ebx, %ebx
        xorl    %ecx, %ecx
        xorl    %edx, %edx
        xorl    %esi, %esi
        xorl    %edi, %edi
        xorl    %ebp, %ebp
        lretw

no_engine:
        popal
        popfl
        lretw
