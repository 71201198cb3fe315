/* SPDX-License-Identifier: MIT */
/* All benchmarks in one program, which ends the run. */
#include "p5.h"

int main(void)
{
  p5_start();
  calls();
  exec_static();
  memory_read();
  files();
  pipes();
  small_files();
  p5_marker(P5_EXIT, 0L, (char *)0, 0);
  return 0;
}
