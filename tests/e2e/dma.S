# SPDX-License-Identifier: MIT
#
# A program without operating system for test_dma.py. Between the markers of phase 1, the IDE
# controller reads 4 sectors from the disk into memory as a bus master (PIIX). Before phase 1 the
# program reads 3 lines of the buffer into L1D and modifies one of them. In phase 2 it reads these
# lines again. Exit status: 0 if the data came, 1 if the buffer still has its old contents.

        .include "bare.inc"
        .set    BUFFER, 0x10000
        .set    PRD, 0x8000             # physical region descriptor: address, bytes, end mark
        .set    IDE, 0x80000900         # PCI configuration address of device 1, function 1

        .macro  pci register
        movl    $IDE + \register, %eax
        movw    $0xCF8, %dx
        outl    %eax, %dx
        movw    $0xCFC, %dx
        .endm
        .macro  out8 port, value
        movw    $\port, %dx
        movb    $\value, %al
        outb    %al, %dx
        .endm

        .code16
        .globl  _start
_start: cli
        caches_on
        protect

        pci     0x20                    # address of the bus master's registers
        inl     %dx, %eax
        andl    $0xFFFC, %eax
        movl    %eax, %ebp
        pci     0x04                    # I/O space and bus master on
        movw    $5, %ax
        outw    %ax, %dx

        movl    $BUFFER, PRD
        movl    $0x80000000 + 4 * 512, PRD + 4
        leal    4(%ebp), %edx
        movl    $PRD, %eax
        outl    %eax, %dx
        leal    2(%ebp), %edx           # clear error and interrupt
        movb    $6, %al
        outb    %al, %dx

        movl    $0x55555555, BUFFER
        movl    BUFFER, %eax
        movl    BUFFER + 0x200, %eax
        movl    BUFFER + 0x400, %eax
        incl    BUFFER + 0x400

        marker  BEGIN, $1
        out8    0x1F2, 4                # sectors
        out8    0x1F3, 0                # first sector 0 of the drive
        out8    0x1F4, 0
        out8    0x1F5, 0
        out8    0x1F6, 0xE0
        out8    0x1F7, 0xC8             # READ DMA
        movl    %ebp, %edx
        movb    $9, %al                 # start, towards memory
        outb    %al, %dx
        leal    2(%ebp), %edx
1:      inb     %dx, %al
        testb   $4, %al                 # done
        jz      1b
        marker  END, $1

        marker  BEGIN, $2
        movl    BUFFER, %ebx
        movl    BUFFER + 0x200, %ebx
        movl    BUFFER + 0x400, %ebx
        marker  END, $2
        xorl    %edi, %edi
        cmpl    $0x55555555, BUFFER
        sete    %bl
        movzbl  %bl, %edi
        marker  EXIT, %edi
1:      jmp     1b

        .balign 8
        gdt_begin
        gdt_end
