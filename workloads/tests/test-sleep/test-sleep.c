// SPDX-License-Identifier: MIT
/* test-sleep: phase 0 brackets a sleep. The processor must be idle for nearly the whole phase. */
#include <time.h>

#include "p5w.h"

int main(int argc, char **argv) {
  long milliseconds = 100;
  const struct p5w_option options[] = {{"ms", "milliseconds to sleep", &milliseconds, 1, NULL},
                                       {0}};
  p5w_start(argc, argv, options);
  struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  p5_begin(0);
  int failed = nanosleep(&time, NULL);
  p5_end(0);
  if (failed) p5w_fail("nanosleep");
  return 0;
}
