/* SPDX-License-Identifier: MIT */
/* workloads/lib/counters.h includes this file. Windows has no driver p5ctr, so open() fails first. */
#ifndef P5CTR_H
#define P5CTR_H

enum { P5CTR_CC_ALL, P5CTR_CONFIG, P5CTR_START, P5CTR_STOP };

struct p5ctr_config {
  unsigned event0, cc0, event1, cc1;
};
struct p5ctr_counts {
  unsigned long long tsc, counter0, counter1;
};

#endif
