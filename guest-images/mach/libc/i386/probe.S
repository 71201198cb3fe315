/* SPDX-License-Identifier: MIT */
/* Instructions that may use a bad address: the server finds them by the mark after them
 * (unix_types.h).
 */
	.text
/* int __mach_probe_read(const void *), int __mach_probe_write(void *): 0, or 1 if there is no
 * memory, or if it is not writable.
 */
	.globl	__mach_probe_read
	.type	__mach_probe_read, @function
__mach_probe_read:
	movl	4(%esp), %edx
	xorl	%eax, %eax
	movb	(%edx), %cl
	ret
	.ascii	"P5EF"
	incl	%eax
	ret

	.globl	__mach_probe_write
	.type	__mach_probe_write, @function
__mach_probe_write:
	movl	4(%esp), %edx
	xorl	%eax, %eax
	orb	$0, (%edx)
	ret
	.ascii	"P5EF"
	incl	%eax
	ret
