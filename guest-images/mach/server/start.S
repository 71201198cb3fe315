/* SPDX-License-Identifier: MIT */
/* The kernel starts the server with only its arguments on the stack. */
	.text
	.globl	_start
_start:
	xorl	%ebp, %ebp
	movl	%esp, %eax
	andl	$-16, %esp
	subl	$12, %esp
	pushl	%eax
	call	server_start
