/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_STDLIB_H
#define P5LAB_WIN32_STDLIB_H

#include <stddef.h>

int atoi(const char *text);
_Noreturn void exit(int status);
char *getenv(const char *name);
void *malloc(size_t size); /* whole pages, zeroed; a program frees nothing */
int posix_memalign(void **place, size_t alignment, size_t size);
long strtol(const char *text, char **end, int base);

#endif
