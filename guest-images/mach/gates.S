# SPDX-License-Identifier: MIT
#
# What guest mach adds to the kernel: four gates to ring 0, of which the server makes the counter
# device. build_gnumach.py puts this code behind the kernel's and has the kernel make the gates, in place
# of those of vectors 1Ch to 1Fh. One handler each SPACE bytes.

	.set	SPACE, 64
	.set	CESR, 0x11		# INTEL-DM 16; counter 0 is the next, counter 1 the one after

	.text
# F0h: straight back. This one and the next are those of guest linux (linux/p5ctr/p5ctr.h).
	iret
	.balign	SPACE

# F1h: back between markers.
	cpuid
	movl	%esi, %eax
	movl	$2, %ecx
	movl	%edi, %edx
	cpuid
	movl	%esi, %eax
	movl	$3, %ecx
	movl	%edi, %edx
	iret
	.balign	SPACE

# F2h: stop both counters, zero them, and count as ESI says. EAX, ECX, EDX are lost.
	xorl	%eax, %eax
	xorl	%edx, %edx
	movl	$CESR, %ecx
	wrmsr
	incl	%ecx
	wrmsr
	incl	%ecx
	wrmsr
	movl	%esi, %eax
	movl	$CESR, %ecx
	wrmsr
	iret
	.balign	SPACE

# F3h: counter 0 in EDI:ESI, counter 1 in ECX:EBX, the time-stamp counter in EDX:EAX; with ESI = 0 the
# counters are stopped first.
	testl	%esi, %esi
	jnz	1f
	xorl	%eax, %eax
	xorl	%edx, %edx
	movl	$CESR, %ecx
	wrmsr
1:	movl	$CESR + 1, %ecx
	rdmsr
	movl	%eax, %esi
	movl	%edx, %edi
	incl	%ecx
	rdmsr
	movl	%eax, %ebx
	movl	%edx, %ecx
	rdtsc
	iret
	.balign	SPACE
