/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_TIME_H
#define P5LAB_WIN32_TIME_H

struct timespec {
  long tv_sec, tv_nsec;
};

/* Sleeps until the next tick of the clock or longer. */
int nanosleep(const struct timespec *time, struct timespec *left);

#endif
