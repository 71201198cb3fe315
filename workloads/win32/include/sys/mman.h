/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_MMAN_H
#define P5LAB_WIN32_MMAN_H

#include <stddef.h>

enum { PROT_READ = 1, PROT_WRITE = 2 };
enum { MAP_SHARED = 1, MAP_PRIVATE = 2, MAP_ANONYMOUS = 32 };
#define MAP_FAILED ((void *)-1)

/* Only memory of the process's own. */
void *mmap(void *at, size_t size, int protection, int flags, int descriptor, long offset);

#endif
