/* SPDX-License-Identifier: MIT */
/* If a signal comes while a program is running, the server makes the program continue here. This
 * code saves the program's registers, calls the handlers and returns to the interrupted code. The
 * address of that code is the word `resume` of __mach_signals.
 */
	.set	RESUME, 8
	.set	X87, 108

	.text
	.globl	__mach_signal_entry
	.hidden	__mach_signal_entry, __mach_signals, __mach_signal_caught
	.type	__mach_signal_entry, @function
__mach_signal_entry:
	pushl	$0			/* becomes the return address */
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
