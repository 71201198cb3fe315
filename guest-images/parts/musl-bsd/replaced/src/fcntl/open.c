/* SPDX-License-Identifier: MIT */
/* Replaces musl's src/fcntl/open.c: the flags of BSD (4.4BSD-Lite, sys/sys/fcntl.h, 8.3). The modes
 * of access, 0 to 2, are the same. */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include "syscall.h"

static const struct { int linux, bsd; } flag[] = {
	{O_NONBLOCK, 0x0004}, {O_APPEND, 0x0008}, {O_SYNC, 0x0080},
	{O_CREAT, 0x0200}, {O_TRUNC, 0x0400}, {O_EXCL, 0x0800},
};

int open(const char *name, int flags, ...)
{
	int mode = 0, of_bsd = flags & O_ACCMODE & 3, left = flags & ~(O_ACCMODE & 3);
	if (flags & O_CREAT) {
		va_list more;
		va_start(more, flags);
		mode = va_arg(more, int);
		va_end(more);
	}
	for (unsigned i = 0; i < sizeof(flag) / sizeof(*flag); i++) {
		if ((left & flag[i].linux) != flag[i].linux) continue;
		of_bsd |= flag[i].bsd;
		left &= ~flag[i].linux;
	}
	if (left) return errno = EINVAL, -1;
	return syscall(SYS_open, name, of_bsd, mode);
}
