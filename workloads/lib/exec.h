/* SPDX-License-Identifier: MIT */
/* Start a program in a new process and wait until it ends. The workloads exec-static, exec-dynamic
 * and counted measure this.
 */
#ifndef P5LAB_EXEC_H
#define P5LAB_EXEC_H

#include "child.h"

static const char *exec_program;

/* One start and wait (chen95 section 4.3, the NetBSD variant: vfork and exec). */
static inline void exec_once(void) {
  char *const arguments[] = {(char *)exec_program, NULL};
  char *const environment[] = {NULL};
  pid_t child = vfork();
  if (child == 0) {
    execve(exec_program, arguments, environment);
    _exit(127);
  }
  child_wait(child);
}

/* The same as phase 0. */
static inline void exec_iteration(void) {
  p5_begin(0);
  exec_once();
  p5_end(0);
}

#endif
