/* SPDX-License-Identifier: MIT */
/* Replaces musl's src/process/_Fork.c. In the child, EDX is 1 on 4.4BSD, and EAX is the parent's
 * number or 0 (lib/libc/i386/sys/fork.s). A program with one thread has no locks to take. */
#include <unistd.h>
#include "pthread_impl.h"
#include "syscall.h"

pid_t _Fork(void)
{
	long long both = p5_bsd_wide(SYS_fork);
	pid_t child = both >> 32 == 1 ? 0 : (pid_t)both;
	if (!child) __pthread_self()->tid = __syscall(SYS_getpid);
	return __syscall_ret(child);
}
