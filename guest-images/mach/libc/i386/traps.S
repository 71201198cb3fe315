/* SPDX-License-Identifier: MIT */
/* The kernel's traps. mach/syscall_sw.h has their numbers. */

	.macro	trap name, number
	.globl	\name
	.type	\name, @function
\name:	movl	$\number, %eax
	lcall	$7, $0
	ret
	.endm

	.text
	trap	mach_msg_trap, -25
	trap	mach_reply_port, -26
	trap	mach_thread_self, -27
	trap	mach_task_self, -28
	trap	mach_host_self, -29
	trap	mach_print, -30
	trap	swtch_pri, -59
	trap	syscall_vm_map, -64
	trap	syscall_vm_allocate, -65
	trap	syscall_vm_deallocate, -66
