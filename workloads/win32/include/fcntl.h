/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_FCNTL_H
#define P5LAB_WIN32_FCNTL_H

enum { O_RDONLY = 0, O_WRONLY = 1, O_RDWR = 2, O_CREAT = 4, O_EXCL = 8, O_TRUNC = 16 };

/* A descriptor is a handle of Windows. */
int open(const char *path, int flags, ...);

#endif
