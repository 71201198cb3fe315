# SPDX-License-Identifier: MIT
#
# Guest mach adds four gates to ring 0 to the kernel. The server uses them for its counter device.
# build_gnumach.py adds this code to the kernel's code. It makes the kernel set up these gates
# instead of the gates of vectors 1Ch to 1Fh. Each handler takes SPACE bytes.

	.set	SPACE, 64
	.set	CESR, 0x11		# INTEL-DM 16; counter 0 is MSR 12h, counter 1 is MSR 13h

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

# F3h: return counter 0 in EDI:ESI, counter 1 in ECX:EBX and the time-stamp counter in EDX:EAX. With
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
