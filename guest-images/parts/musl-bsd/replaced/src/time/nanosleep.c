/* SPDX-License-Identifier: MIT */
/* Replaces musl's src/time/nanosleep.c: 4.4BSD has no nanosleep. A process sleeps by `select` without
 * files. */
#include <time.h>
#include "syscall.h"

int nanosleep(const struct timespec *time, struct timespec *left)
{
	long seconds_and_us[2] = {time->tv_sec, (time->tv_nsec + 999) / 1000};
	if (left) *left = (struct timespec){0};
	return syscall(SYS_select, 0, 0, 0, 0, seconds_and_us);
}
