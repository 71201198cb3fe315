# SPDX-License-Identifier: MIT
#
# The last step of a multiboot loader (Multiboot Specification 0.6.96). The boot ROM enters this
# code in real mode, like the setup code of a Linux kernel. This code enters the kernel in protected
# mode.
#
# The engine has already copied the kernel, the modules and the information structure into memory.
# src/p5lab/engines/bochs/boot.py fills in the four words at `parameters`. Runs at BASE, with DS = CS.

        .set    BASE,           0x90000         # src/p5lab/engines/bochs/boot.py
        .set    LOADER_MAGIC,   0x2BADB002
        .set    CODE,           0x08
        .set    DATA,           0x10

        .code16
        .text
        .globl  _start
_start:
        jmp     enter
        .balign 4
parameters:                                     # offset 4
kernel_entry:   .long 0
information:    .long 0
bss:            .long 0                         # the kernel's memory that is not in its file
bss_words:      .long 0

enter:
        cli
        inb     $0x92, %al                      # A20 on, by the system control port of PS/2 and PCI boards
        orb     $0x02, %al
        andb    $0xFE, %al                      # bit 0 would reset the machine
        outb    %al, $0x92
        lgdtl   descriptors_at
        movl    %cr0, %eax
        orb     $0x01, %al
        movl    %eax, %cr0
        ljmpl   $CODE, $BASE + protected

        .code32
protected:
        movl    $DATA, %eax
        movl    %eax, %ds
        movl    %eax, %es
        movl    %eax, %fs
        movl    %eax, %gs
        movl    %eax, %ss
        movl    BASE + bss, %edi
        movl    BASE + bss_words, %ecx
        xorl    %eax, %eax
        cld
        rep stosl
        movl    $LOADER_MAGIC, %eax
        movl    BASE + information, %ebx
        jmp     *BASE + kernel_entry

        .balign 8
descriptors:                                    # flat segments of 4 GB, ring 0
        .quad   0
        .quad   0x00CF9A000000FFFF
        .quad   0x00CF92000000FFFF
descriptors_end:
descriptors_at:
        .word   descriptors_end - descriptors - 1
        .long   BASE + descriptors
