// SPDX-License-Identifier: MIT
/* test-unbalanced: begins a phase and does not end it. The run must fail. */
#include "p5w.h"

int main(int argc, char **argv) {
  const struct p5w_option options[] = {{0}};
  p5w_start(argc, argv, options);
  p5_begin(7);
  return 0;
}
