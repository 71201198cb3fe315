/* SPDX-License-Identifier: MIT */
/* Inside the library: asking the server, and what has files of its own. */
#ifndef P5LAB_SYSTEM_H
#define P5LAB_SYSTEM_H

#include <stddef.h>

#define HIDDEN __attribute__((__visibility__("hidden")))

HIDDEN long __mach_plain_call(long number, const int *arguments);
/* With memory that the call reads and writes; -EFAULT when there is none. */
HIDDEN long __mach_data_call(long number, const int *arguments, const void *in, size_t in_length,
                             void *out, size_t out_length);
HIDDEN long __mach_sysv(const int *arguments);

#endif
