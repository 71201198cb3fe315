/* SPDX-License-Identifier: MIT */
/* long __mach_fork(int number): fork() or vfork(). The child begins at label 1 with EAX = 0 on its
 * copy of this stack.
 */
	.set	X87, 108

	.text
	.globl	__mach_fork
	.hidden	__mach_fork, __mach_fork_call
	.type	__mach_fork, @function
__mach_fork:
	pushl	%ebp
	pushl	%ebx
	pushl	%esi
	pushl	%edi
	subl	$X87, %esp		/* the kernel does not copy registers to a new thread */
	fnsave	(%esp)
	movl	%esp, %eax
	subl	$8, %esp
	pushl	X87 + 20(%eax)
	pushl	%eax
	call	2f
2:	popl	%edx
	addl	$1f - 2b, %edx
	pushl	%edx
	call	__mach_fork_call
	addl	$20, %esp
1:	frstor	(%esp)
	addl	$X87, %esp
	popl	%edi
	popl	%esi
	popl	%ebx
	popl	%ebp
	ret
