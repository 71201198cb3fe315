/* SPDX-License-Identifier: MIT */
/* child: a program that ends at once, for exec. It is as small as a program of DOS can be. */
__asm__(".section .start, \"ax\"\n.globl _start\n_start:\n  movw $0x4C00, %ax\n  int $0x21\n");
