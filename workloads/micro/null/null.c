// SPDX-License-Identifier: MIT
/*
 * null: the cost of calling the counter device (chen95 section 4.1, figure 1). Phase 0 brackets a
 * start() and a stop(), each with one system call. chen95 repeats this pair 50 times and subtracts
 * the result from its other benchmarks.
 */
#include "counters.h"

static int device;

static void iteration(void) {
  p5_begin(0);
  counters_start(device);
  counters_stop(device);
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  long event0 = 0x16, event1 = 0x00; /* instructions executed, data reads */
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup),
                                       {"event0", "event of counter 0", &event0, 0, NULL},
                                       {"event1", "event of counter 1", &event1, 0, NULL},
                                       {0}};
  p5w_start(argc, argv, options);
  device = counters_open();
  counters_config(device, event0, event1);

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
