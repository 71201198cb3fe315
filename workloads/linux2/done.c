/* SPDX-License-Identifier: MIT */
/*
 * done: what happens after a program. `done NAME STATUS` says which program a system cannot run
 * (status 77), and ends the run after a failure. `done` ends the run with success.
 */
#include <stdlib.h>

#include "p5w.h"

static void say(const char *text) { p5_output(1, text, strlen(text)); }

int main(int argc, char **argv) {
  p5_marker_init();
  if (argc < 3) p5_exit(0);
#ifdef P5LAB_RUNS_ANYWHERE
  if (argc < 3) return 0;
#endif
  say(argv[1]);
  if (atoi(argv[2]) == P5W_EXIT_UNAVAILABLE) {
    say(": not possible on this system\n");
    return 0;
  }
  say(": failed with status ");
  say(argv[2]);
  say("\n");
  p5_exit(1);
  return 1;
}
