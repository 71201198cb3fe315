/* SPDX-License-Identifier: MIT */
/* Replaces musl's src/mman/mmap.c, which calls mmap2 (192). Before Linux 2.3, mmap (90) takes the
 * address of its six arguments. */
#include <sys/mman.h>
#include "syscall.h"

void *__mmap(void *start, size_t length, int protection, int flags, int file, off_t offset)
{
	const long arguments[6] = {(long)start, length, protection, flags, file, offset};
	return (void *)__syscall_ret(__syscall(SYS_mmap, arguments));
}

weak_alias(__mmap, mmap);
