/* SPDX-License-Identifier: MIT */
/* long __mach_fork(void): the child begins at 1 with EAX = 0 on its copy of this stack. */
	.text
	.globl	__mach_fork
	.hidden	__mach_fork, __mach_fork_call
	.type	__mach_fork, @function
__mach_fork:
	pushl	%ebp
	pushl	%ebx
	pushl	%esi
	pushl	%edi
	movl	%esp, %eax
	subl	$8, %esp
	pushl	%eax
	call	2f
2:	popl	%edx
	addl	$1f - 2b, %edx
	pushl	%edx
	call	__mach_fork_call
	addl	$16, %esp
1:	popl	%edi
	popl	%esi
	popl	%ebx
	popl	%ebp
	ret
