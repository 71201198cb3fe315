/* SPDX-License-Identifier: MIT */
/*
 * The system calls of 4.4BSD on i386, as its C library makes them (lib/libc/i386/sys/syscall.s, 5.1,
 * and Ovfork.s, 5.1): the number is in EAX, the arguments are on the stack above a return address,
 * and the carry flag says that EAX is an error number.
 *
 * NetBSD 1.0 and FreeBSD 2.0.5 enter the kernel by a call gate. With P5LAB_ELF, this is the start of a
 * program for OpenBSD to 5.4, which enters it by INT 80h (sys/arch/i386/i386/locore.s).
 */
#ifdef P5LAB_ELF
.macro enter_kernel
  int $0x80
.endm
#define PIPE 263
#define PIPE_STORES 1
/* OpenBSD starts only a program that has its name (sys/sys/exec_elf.h, ELF_NOTE_TYPE_OSVERSION). */
.section .note.openbsd.ident, "a", @note
  .long 8, 4, 1
  .asciz "OpenBSD"
  .long 0
#else
.macro enter_kernel
  lcall $7, $0
.endm
#define PIPE 42
#define PIPE_STORES 0
#endif

.section .rodata
.balign 4
.globl p5_pipe, p5_pipe_stores
p5_pipe: .long PIPE
p5_pipe_stores: .long PIPE_STORES

.text
/* long p5_bsd(long number, ...): the result, or -ERROR with an error number of Linux. The low half of
 * long long p5_bsd_wide(long number, ...). */
.globl p5_bsd, p5_bsd_wide
p5_bsd:
p5_bsd_wide:
  popl %ecx
  movl (%esp), %eax
  movl %ecx, (%esp)
  enter_kernel
  pushl (%esp)
  jc failed
  ret
failed:
  pushl %eax
  call p5_bsd_error
  popl %ecx
  movl $-1, %edx
  ret

/* The child has the stack of its parent, so the address to return to is in a register. */
.globl vfork
vfork:
  popl %ecx
  movl $66, %eax
  enter_kernel
  jc 2f
  testl %edx, %edx
  jz 1f
  xorl %eax, %eax
1:
  jmp *%ecx
2:
  pushl %ecx
  pushl %eax
  call p5_bsd_error
  movl %eax, (%esp)
  call __syscall_ret
  popl %ecx
  ret
