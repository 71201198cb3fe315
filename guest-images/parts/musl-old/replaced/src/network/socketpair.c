/* SPDX-License-Identifier: MIT */
/* Linux 2.0 has one system call for all calls of sockets. It takes the arguments in memory. */
#include <sys/socket.h>

#include "syscall.h"

int socketpair(int domain, int type, int protocol, int ends[2]) {
  long arguments[] = {domain, type, protocol, (long)ends};
  return syscall(SYS_socketcall, __SC_socketpair, arguments);
}
