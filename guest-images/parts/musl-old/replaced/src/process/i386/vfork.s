# SPDX-License-Identifier: MIT
# Replaces musl's src/process/i386/vfork.s. Linux 2.0 has no vfork (190), and the C libraries of its
# time called fork (2) instead.
.text
.global vfork
.type vfork,@function
vfork:
	movl $2, %eax
	int $128
	pushl %eax
	call __syscall_ret
	popl %edx
	ret
.hidden __syscall_ret
