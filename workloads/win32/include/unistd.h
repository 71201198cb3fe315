/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_UNISTD_H
#define P5LAB_WIN32_UNISTD_H

#include <stddef.h>

typedef int ssize_t;

int chdir(const char *path);
int close(int descriptor);
ssize_t read(int descriptor, void *bytes, size_t count);
int rmdir(const char *path);
void sync(void); /* does nothing: Windows has no such call */
int unlink(const char *path);
ssize_t write(int descriptor, const void *bytes, size_t count);

#endif
