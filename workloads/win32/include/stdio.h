/* SPDX-License-Identifier: MIT */
#ifndef P5LAB_WIN32_STDIO_H
#define P5LAB_WIN32_STDIO_H

#include <stddef.h>

/* The text also goes to the engine. */
#define stderr NULL
int fprintf(void *stream, const char *format, ...) __attribute__((format(printf, 2, 3)));
int snprintf(char *to, size_t size, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
