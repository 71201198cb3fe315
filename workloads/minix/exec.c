/* SPDX-License-Identifier: MIT */
/*
 * exec: start a trivial program in a new process and wait for its end (chen95 section 4.3, figure
 * 3). MINIX has no vfork. Phase 3 brackets one start and wait.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "p5.h"

static void one_program(void)
{
  static char *arguments[] = {"./child", (char *)0}, *environment[] = {(char *)0};
  int status = 0;
  pid_t child;

  p5_begin(3);
  child = fork();
  if (child == 0) {
    execve(arguments[0], arguments, environment);
    _exit(127);
  }
  if (wait(&status) != child) status = 1;
  p5_end(3);
  if (child < 0 || status != 0) p5_fail("exec: ./child cannot be started");
}

void exec_static(void)
{
  p5_name(3L, "exec-static");
  p5_repeat(one_program, 2, p5_parameter("programs", 20));
}
