/* SPDX-License-Identifier: MIT */
/* The Pentium's event counters through /dev/p5ctr (interface: guest-images/linux/p5ctr/p5ctr.h). */
#ifndef P5LAB_COUNTERS_H
#define P5LAB_COUNTERS_H

#include <fcntl.h>
#include <sys/ioctl.h>

#include "p5ctr.h"
#include "p5w.h"

#define P5CTR_DEVICE "/dev/p5ctr"

/* Open the counter device. Exits with P5W_EXIT_UNAVAILABLE if there is no such device. */
static inline int counters_open(void) {
  int device = open(P5CTR_DEVICE, O_RDWR);
  if (device < 0) {
    fprintf(stderr, "%s: %s: needs the p5ctr driver on a Pentium\n", P5CTR_DEVICE, strerror(errno));
    exit(P5W_EXIT_UNAVAILABLE);
  }
  return device;
}

/* Select two events, to be counted at all privilege levels. */
static inline void counters_config(int device, long event0, long event1) {
  struct p5ctr_config config = {.event0 = (unsigned)event0,
                                .cc0 = P5CTR_CC_ALL,
                                .event1 = (unsigned)event1,
                                .cc1 = P5CTR_CC_ALL};
  if (ioctl(device, P5CTR_CONFIG, &config) != 0) p5w_fail("p5ctr: config");
}

/* Zero and start both counters: one system call. */
static inline void counters_start(int device) {
  if (ioctl(device, P5CTR_START) != 0) p5w_fail("p5ctr: start");
}

/* Freeze both counters and fetch them and the TSC: one system call. */
static inline struct p5ctr_counts counters_stop(int device) {
  struct p5ctr_counts counts;
  if (ioctl(device, P5CTR_STOP, &counts) != 0) p5w_fail("p5ctr: stop");
  return counts;
}

#endif
