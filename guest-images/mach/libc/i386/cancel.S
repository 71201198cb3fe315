/* SPDX-License-Identifier: MIT */
/* musl's cancellation point (src/thread/pthread_cancel.c): a call that does not begin if *cancel is
 * set. long __syscall_cp_asm(volatile int *cancel, long number, six arguments).
 */
	.text
	.globl	__syscall_cp_asm, __cp_begin, __cp_end, __cp_cancel
	.hidden	__syscall_cp_asm, __cp_begin, __cp_end, __cp_cancel, __cancel, __mach_syscall
	.type	__syscall_cp_asm, @function
__syscall_cp_asm:
	movl	4(%esp), %ecx
__cp_begin:
	cmpl	$0, (%ecx)
	jne	__cp_cancel
	.rept	7			/* the offset is the same, because each push moves ESP */
	pushl	32(%esp)
	.endr
	call	__mach_syscall
__cp_end:
	addl	$28, %esp
	ret
__cp_cancel:
	jmp	__cancel
