/* SPDX-License-Identifier: MIT */
/* Replaces musl's src/mman/mmap.c. On 4.4BSD, the offset has 64 bits, and a word stands before it, so
 * that it is aligned (sys/sys/mman.h, 8.1; sys/vm/vm_mmap.c, struct mmap_args). */
#include <sys/mman.h>
#include "syscall.h"

#define BSD_ANON 0x1000

void *__mmap(void *start, size_t length, int protection, int flags, int file, off_t offset)
{
	int of_bsd = flags & (MAP_SHARED | MAP_PRIVATE | MAP_FIXED);
	if (flags & MAP_ANON) of_bsd |= BSD_ANON;
	return (void *)__syscall_ret(p5_bsd(SYS_mmap, (long)start, (long)length, (long)protection,
		(long)of_bsd, (long)file, 0L, offset));
}

weak_alias(__mmap, mmap);
