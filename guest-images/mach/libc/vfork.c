// SPDX-License-Identifier: MIT
/* vfork(): the child has its own memory, so that it may return from here. The parent waits until
 * the child has executed another program or has ended.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "syscall.h"

pid_t vfork(void) { return syscall(SYS_vfork); }
