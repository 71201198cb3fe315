// SPDX-License-Identifier: MIT
/* vfork(): the child has its own memory, so the child may return from this function. The parent
 * waits until the child has executed another program or has ended.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "syscall.h"

pid_t vfork(void) { return syscall(SYS_vfork); }
