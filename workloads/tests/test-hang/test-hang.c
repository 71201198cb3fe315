// SPDX-License-Identifier: MIT
/* test-hang: never ends. The run must end at its virtual-time limit. */
#include "p5w.h"

int main(int argc, char **argv) {
  const struct p5w_option options[] = {{0}};
  p5w_start(argc, argv, options);
  p5_begin(0);
  for (;;) __asm__ volatile("");
}
