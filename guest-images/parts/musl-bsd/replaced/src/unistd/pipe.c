/* SPDX-License-Identifier: MIT */
/* Replaces musl's src/unistd/pipe.c. The two ends are the two results of 4.4BSD's call. OpenBSD has a
 * call with another number that stores them (workloads/bsd/enter.S says which one). */
#include <unistd.h>
#include "syscall.h"

extern hidden const long p5_pipe, p5_pipe_stores;

int pipe(int ends[2])
{
	long long both = p5_bsd_wide(p5_pipe, ends);
	if (both < 0) return __syscall_ret(both);
	if (!p5_pipe_stores) ends[0] = both, ends[1] = both >> 32;
	return 0;
}
