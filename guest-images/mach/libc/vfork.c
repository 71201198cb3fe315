// SPDX-License-Identifier: MIT
/* vfork(): the child has memory of its own, so that it may return from here; the parent waits until it
 * has a program of its own, or has ended.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "syscall.h"

pid_t vfork(void) { return syscall(SYS_vfork); }
