// SPDX-License-Identifier: MIT
/*
 * test-output: writes known text to stdout and stderr and exits with `status`. A test checks that
 * the output and the exit status reach the host unchanged.
 */
#include "p5w.h"

int main(int argc, char **argv) {
  long status = 3, lines = 500;
  const struct p5w_option options[] = {{"status", "exit status", &status, 0, NULL},
                                       {"lines", "lines on each stream", &lines, 0, NULL},
                                       {0}};
  p5w_start(argc, argv, options);
  for (long i = 0; i < lines; i++) {
    printf("stdout line %ld\n", i);
    fprintf(stderr, "stderr line %ld\n", i);
  }
  return (int)status;
}
