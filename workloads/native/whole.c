// SPDX-License-Identifier: MIT
/*
 * whole PROGRAM [argument ...]: `run --program --engine native` starts this program. Like the
 * guests' init, it brackets the whole PROGRAM, from before the fork until after the wait. It exits
 * with the status of PROGRAM.
 */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "marker.h"

#define EMPTY_BRACKETS 10
#define STATUS_NOT_RUN 127

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: %s PROGRAM [argument ...]\n", argv[0]);
    return 2;
  }
  p5_marker_init();
  unsetenv("P5LAB_EVENTS"); /* only this program writes the file */
  for (int i = 0; i < EMPTY_BRACKETS; i++) {
    p5_begin(P5_PHASE_EMPTY);
    p5_end(P5_PHASE_EMPTY);
  }
  int status = 0;
  p5_begin(P5_PHASE_WHOLE);
  pid_t child = vfork();
  if (child == 0) {
    execv(argv[1], argv + 1);
    perror(argv[1]);
    _exit(STATUS_NOT_RUN);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) {
    perror(argv[0]);
    return STATUS_NOT_RUN;
  }
  p5_end(P5_PHASE_WHOLE);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
