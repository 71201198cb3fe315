/* SPDX-License-Identifier: MIT */
/* Replaces musl's src/network/socketpair.c: BSD has a system call for each call of sockets. The
 * numbers of the local domain and of streams are those of Linux. */
#include <sys/socket.h>
#include "syscall.h"

int socketpair(int domain, int type, int protocol, int ends[2])
{
	return syscall(SYS_socketpair, domain, type, protocol, ends);
}
