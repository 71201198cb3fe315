/* SPDX-License-Identifier: MIT */
/* The trivial programs that the process benchmarks start. They are in the workload's directory. */
#ifndef P5LAB_CHILD_H
#define P5LAB_CHILD_H

#include <sys/wait.h>
#include <unistd.h>

#include "p5w.h"

#define CHILD_NAME "true-static"

/* Return the path of `name` in the directory of the program `argv0`. */
static inline const char *child_path(const char *argv0, const char *name) {
  static char path[1024];
  const char *slash = strrchr(argv0, '/');
  int directory = slash ? (int)(slash - argv0 + 1) : 0;
  snprintf(path, sizeof(path), "%.*s%s", directory, argv0, name);
  if (access(path, X_OK) != 0) p5w_fail(path);
  return path;
}

/* Wait for the child. Give up unless the child ended with status 0. */
static inline void child_wait(pid_t child) {
  int status;
  if (child < 0) p5w_fail("fork");
  if (waitpid(child, &status, 0) != child) p5w_fail("wait");
  if (status != 0) {
    fprintf(stderr, "child: wait status %#x\n", (unsigned)status);
    exit(P5W_EXIT_FAILED);
  }
}

#endif
