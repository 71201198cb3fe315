/* SPDX-License-Identifier: MIT */
/* A program that was running when a signal came continues here: the server enters this code. It
 * saves the program's registers, calls the handlers, and returns to the interrupted code, whose
 * address is the word `resume` of __mach_signals.
 */
	.set	RESUME, 8
	.set	X87, 108

	.text
	.globl	__mach_signal_entry
	.hidden	__mach_signal_entry, __mach_signals, __mach_signal_caught
	.type	__mach_signal_entry, @function
__mach_signal_entry:
	pushl	$0			/* to be the return address */
	pushfl
	pushal
	cld
	call	1f
1:	popl	%ebx
	addl	$__mach_signals - 1b + RESUME, %ebx
	movl	(%ebx), %eax
	movl	%eax, 36(%esp)
	movl	%esp, %ebp
	subl	$X87 + 4, %esp
	andl	$-16, %esp
	fnsave	(%esp)
	call	__mach_signal_caught
	frstor	(%esp)
	movl	%ebp, %esp
	popal
	popfl
	ret
