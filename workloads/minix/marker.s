! SPDX-License-Identifier: MIT
! int p5_marker(int operation, long argument, char *text, unsigned length)
!
! One CPUID with the operands of docs/reference/marker-protocol.md. The assembler of MINIX does not
! know 32-bit registers, so these instructions are bytes.
.sect .text; .sect .rom; .sect .data; .sect .bss
.define _p5_marker
.sect .text
_p5_marker:
	push	bp
	mov	bp,sp
	push	si
	push	di
	mov	si,10(bp)
	mov	di,si
	.data1	0x66,0xB8,0x42,0x4C,0x35,0x50	! mov eax,50354C42h
	.data1	0x66,0x0F,0xB7,0x4E,0x04	! movzx ecx,word 4(bp)
	.data1	0x66,0x8B,0x56,0x06		! mov edx,6(bp)
	.data1	0x66,0x0F,0xB7,0x5E,0x0C	! movzx ebx,word 12(bp)
	.data1	0x0F,0xA2			! cpuid
	pop	di
	pop	si
	pop	bp
	ret
