/* SPDX-License-Identifier: MIT */
/* The error numbers of BSD from 35 on (4.4BSD-Lite, sys/sys/errno.h, 8.5). Those to 34 are the same
 * in Linux, except 11. Programs are compiled with the numbers of Linux. */
#include <errno.h>
#include <features.h>

enum { BSD_EDEADLK = 11, FIRST = 35 };

static const unsigned char newer[] = {
	EAGAIN, EINPROGRESS, EALREADY, ENOTSOCK, EDESTADDRREQ, EMSGSIZE, EPROTOTYPE, ENOPROTOOPT,
	EPROTONOSUPPORT, ESOCKTNOSUPPORT, EOPNOTSUPP, EPFNOSUPPORT, EAFNOSUPPORT, EADDRINUSE,
	EADDRNOTAVAIL, ENETDOWN, ENETUNREACH, ENETRESET, ECONNABORTED, ECONNRESET, ENOBUFS, EISCONN,
	ENOTCONN, ESHUTDOWN, ETOOMANYREFS, ETIMEDOUT, ECONNREFUSED, ELOOP, ENAMETOOLONG, EHOSTDOWN,
	EHOSTUNREACH, ENOTEMPTY, [77 - FIRST] = ENOLCK, ENOSYS,
};

/* The result of p5_bsd for an error number of BSD. One that Linux lacks becomes EIO. */
hidden long p5_bsd_error(long error)
{
	if (error == BSD_EDEADLK) return -EDEADLK;
	if (error < FIRST) return -error;
	int known = error - FIRST < (long)sizeof(newer) && newer[error - FIRST];
	return known ? -newer[error - FIRST] : -EIO;
}
