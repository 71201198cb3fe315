/* SPDX-License-Identifier: MIT */
/* Replaces musl's src/unistd/lseek.c. On 4.4BSD, the offset and the result have 64 bits, and a word
 * stands before the offset (sys/kern/vfs_syscalls.c, struct lseek_args). */
#include <unistd.h>
#include "syscall.h"

off_t __lseek(int file, off_t offset, int from)
{
	long long at = p5_bsd_wide(SYS_lseek, (long)file, 0L, offset, (long)from);
	return at < 0 ? __syscall_ret(at) : at;
}

weak_alias(__lseek, lseek);
