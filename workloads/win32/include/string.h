/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_STRING_H
#define P5LAB_WIN32_STRING_H

#include <stddef.h>

void *memchr(const void *bytes, int value, size_t count); /* declared for m5.h, and never called */
void *memcpy(void *to, const void *from, size_t count);
void *memset(void *to, int value, size_t count);
char *strchr(const char *text, int character);
int strcmp(const char *a, const char *b);
size_t strcspn(const char *text, const char *stop);
char *strerror(int error);
size_t strlen(const char *text);
int strncmp(const char *a, const char *b, size_t count);
char *strtok(char *text, const char *separators);

#endif
