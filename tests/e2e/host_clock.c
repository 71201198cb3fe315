/* SPDX-License-Identifier: MIT */
/* A host whose clock is fast. The engine asks the kernel for the time by syscall() (saved_state.cc),
 * and this library answers in its place. Each answer is a hundred times as late as the kernel's. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <sys/time.h>

#define FASTER 100

static long kernel(long number, const long *arguments) {
  register long fourth __asm__("r10") = arguments[3];
  register long fifth __asm__("r8") = arguments[4];
  register long sixth __asm__("r9") = arguments[5];
  long result;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(arguments[0]), "S"(arguments[1]), "d"(arguments[2]),
                     "r"(fourth), "r"(fifth), "r"(sixth)
                   : "rcx", "r11", "memory");
  return result;
}

long syscall(long number, ...) {
  long arguments[6];
  va_list list;
  va_start(list, number);
  for (int i = 0; i < 6; i++) arguments[i] = va_arg(list, long);
  va_end(list);
  const long result = kernel(number, arguments);
  if (result < 0) {
    errno = (int)-result;
    return -1;
  }
  if (number == SYS_time) return result * FASTER;
  if (number == SYS_gettimeofday) {
    static int64_t first;
    struct timeval *time = (struct timeval *)arguments[0];
    const int64_t now = time->tv_sec * 1000000LL + time->tv_usec;
    if (!first) first = now;
    const int64_t fast = first + (now - first) * FASTER;
    time->tv_sec = fast / 1000000, time->tv_usec = fast % 1000000;
  }
  return result;
}
