// SPDX-License-Identifier: MIT
/*
 * selftest-counters: prints every value that it read by RDTSC and from the counter registers. A
 * test compares these values bit for bit with the values that the engine recorded at these
 * instructions.
 *
 * Output, in the order of the reads: `rdtsc VALUE` for an RDTSC of this program; `p5ctr CTR0 CTR1
 * TSC` for one P5CTR_READ or P5CTR_STOP of the driver, which executes RDMSR 12h, RDMSR 13h and
 * RDTSC. All values are hexadecimal.
 */
#include "counters.h"

#define READS_MAX 1000

static uint64_t tsc[READS_MAX];
static struct p5ctr_counts counts[READS_MAX];

static uint64_t rdtsc(void) {
  uint32_t low, high;
  __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
  return (uint64_t)high << 32 | low;
}

int main(int argc, char **argv) {
  long reads = 20, event0 = 0x16, event1 = 0x00;
  const struct p5w_option options[] = {{"reads", "reads of each kind", &reads, 1, NULL},
                                       {"event0", "event of counter 0", &event0, 0, NULL},
                                       {"event1", "event of counter 1", &event1, 0, NULL},
                                       {0}};
  p5w_start(argc, argv, options);
  if (reads > READS_MAX) {
    fprintf(stderr, "%s: reads=%ld: at most %d\n", argv[0], reads, READS_MAX);
    return P5W_EXIT_USAGE;
  }
  int device = counters_open();
  counters_config(device, event0, event1);

  p5_begin(0);
  counters_start(device);
  for (long i = 0; i < reads; i++) {
    tsc[i] = rdtsc();
    if (ioctl(device, P5CTR_READ, &counts[i]) != 0) p5w_fail("p5ctr: read");
  }
  struct p5ctr_counts last = counters_stop(device);
  p5_end(0);

  for (long i = 0; i < reads; i++) {
    printf("rdtsc %llx\n", (unsigned long long)tsc[i]);
    printf("p5ctr %llx %llx %llx\n", (unsigned long long)counts[i].ctr0,
           (unsigned long long)counts[i].ctr1, (unsigned long long)counts[i].tsc);
  }
  printf("p5ctr %llx %llx %llx\n", (unsigned long long)last.ctr0, (unsigned long long)last.ctr1,
         (unsigned long long)last.tsc);
  return 0;
}
