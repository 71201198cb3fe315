/* SPDX-License-Identifier: MIT */
/* Instructions that may use a bad address. The server recognizes them by the bytes that follow them
 * (unix_types.h).
 */
	.text
/* int __mach_probe_read(const void *), int __mach_probe_write(void *): return 0, or 1 if the
 * address has no memory or (write) the memory is not writable.
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
