# SPDX-License-Identifier: MIT
#
# Guest mach adds four gates to ring 0 to the kernel; the server builds the counter device with them.
# build_gnumach.py appends this code to the kernel's. It makes the kernel set up these gates instead of
# those of vectors 1Ch to 1Fh. Each handler has SPACE bytes.

	.set	SPACE, 64
	.set	CESR, 0x11		# INTEL-DM 16; counter 0 is the next, counter 1 the one after

	.text
# F0h: return directly. F0h and F1h are the gates of guest linux (linux/p5ctr/p5ctr.h).
	iret
	.balign	SPACE

# F1h: return between markers.
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

# F2h: stop both counters, zero them, and write ESI to CESR. EAX, ECX, EDX are lost.
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

# F3h: return counter 0 in EDI:ESI, counter 1 in ECX:EBX, the time-stamp counter in EDX:EAX. With
# ESI = 0, stop the counters first.
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
