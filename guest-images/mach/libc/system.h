/* SPDX-License-Identifier: MIT */
/* Internals of the library: requests to the server, and functions that have their own files. */
#ifndef P5LAB_SYSTEM_H
#define P5LAB_SYSTEM_H

#include <stddef.h>

#define HIDDEN __attribute__((__visibility__("hidden")))

HIDDEN long __mach_plain_call(long number, const int *arguments);
/* The same as __mach_plain_call(), with the memory that the call reads and writes. Returns -EFAULT
 * if the memory is not valid.
 */
HIDDEN long __mach_data_call(long number, const int *arguments, const void *in, size_t in_length,
                             void *out, size_t out_length);
HIDDEN long __mach_sysv(const int *arguments);

#endif
