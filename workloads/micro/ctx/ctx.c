// SPDX-License-Identifier: MIT
/*
 * ctx: processes pass a byte to each other (lai96 section 5, figure 1). Phase = number of
 * processes. A bracket contains `switches` transfers. Each transfer is a write and a read, with a
 * context switch between them.
 *
 *   order=ring   each process passes the byte to the next process, and the last to the first
 *   order=chain  the byte goes through all processes to the last one, and back in reverse order
 *
 * A single process writes to its own pipe and reads from it. This measures the pipe without a
 * switch. Every process adds one to the byte, so that the value of the byte is the number of
 * transfers. For each number of processes, `switches` must be a whole number of rounds. One program
 * forks all processes before a measurement, and all processes share the code of this program.
 */
#include "child.h"

#define PROCESSES_MAX 101

enum order { RING, CHAIN };
static const char *const orders[] = {"ring", "chain", NULL};

static int pipes[PROCESSES_MAX][2]; /* process i reads from pipes[i] */

/* Number of transfers until the byte is back at the first process. */
static long round_of(long order, long processes) {
  return order == RING || processes == 1 ? processes : 2 * (processes - 1);
}

/* Read the byte from this process's pipe and pass it on. */
static inline void pass(long self, long next) {
  unsigned char byte;
  if (read(pipes[self][0], &byte, 1) != 1) p5w_fail("ctx: read");
  byte++;
  if (write(pipes[next][1], &byte, 1) != 1) p5w_fail("ctx: write");
}

/* One round of process `self`, which is not the first process. In a chain the process receives the
 * byte twice, except at the end of the chain.
 */
static void take_part(long order, long processes, long self, long rounds) {
  for (; rounds > 0; rounds--) {
    pass(self, order == RING ? (self + 1) % processes : self + 1 < processes ? self + 1 : self - 1);
    if (order == CHAIN && self + 1 < processes) pass(self, self - 1);
  }
}

/* Close the pipes that process `self` does not use, so that a pipe ends when a neighbour ends. */
static void close_others(long order, long processes, long self) {
  for (long i = 0; i < processes; i++) {
    if (i != self) close(pipes[i][0]);
    int writes = order == RING ? i == (self + 1) % processes : i == self + 1 || i == self - 1;
    if (!writes) close(pipes[i][1]);
  }
}

static _Noreturn void child(long order, long processes, long self, long rounds) {
  close_others(order, processes, self);
  take_part(order, processes, self, rounds);
  _exit(0);
}

/* Send the byte `rounds` times from the first process through all others and back. */
static __attribute__((noinline)) void send_around(long next, long rounds, unsigned char *byte) {
  for (; rounds > 0; rounds--) {
    (*byte)++;
    if (write(pipes[next][1], byte, 1) != 1 || read(pipes[0][0], byte, 1) != 1)
      p5w_fail("ctx: first process");
  }
}

static void measure(long order, long processes, long warmup, long switches) {
  pid_t children[PROCESSES_MAX];
  long round = round_of(order, processes), rounds = switches / round;
  for (long i = 0; i < processes; i++)
    if (pipe(pipes[i]) != 0) p5w_fail("pipe");
  for (long i = 1; i < processes; i++) {
    children[i] = fork();
    if (children[i] < 0) p5w_fail("fork");
    if (children[i] == 0) child(order, processes, i, warmup + rounds);
  }
  unsigned char byte = 0;
  long next = processes > 1 ? 1 : 0;
  close_others(processes > 1 ? order : RING, processes, 0);
  p5w_await_tick();
  send_around(next, warmup, &byte);
  p5_begin((uint32_t)processes);
  send_around(next, rounds, &byte);
  p5_end((uint32_t)processes);
  close(pipes[0][0]);
  close(pipes[next][1]);
  for (long i = 1; i < processes; i++) child_wait(children[i]);
  long expected = (warmup + rounds) * round % 256;
  if (byte != expected) {
    fprintf(stderr, "ctx: %ld processes: the byte is %d, not %ld: not everyone passed it on\n",
            processes, byte, expected);
    exit(P5W_EXIT_FAILED);
  }
}

int main(int argc, char **argv) {
  static const long rings[] = {1, 2, 4, 8, 10, 16, 20, 25, 32, 40, 50, 64, 80, 100};
  static const long chains[] = {2, 3, 5, 9, 11, 17, 21, 26, 33, 41, 51, 65, 81, 101};
  long order = RING, processes = 0, switches = 3200, warmup = 2;
  const struct p5w_option options[] = {
      {"order", "ring or chain", &order, 0, orders},
      {"processes", "this number only, at most 101; 0: 1 to 101", &processes, 0, NULL},
      {"switches", "measured passings of the byte for each number", &switches, 1, NULL},
      {"warmup", "rounds before the first measured one", &warmup, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  const long *numbers = order == RING ? rings : chains;
  long count = sizeof(rings) / sizeof(*rings);
  if (processes) numbers = &processes, count = 1;
  for (long i = 0; i < count; i++) {
    long round = numbers[i] > PROCESSES_MAX ? 0 : round_of(order, numbers[i]);
    if (round == 0 || switches % round) {
      fprintf(stderr, "%s: %ld processes: must be at most %d, and switches a multiple of %ld\n",
              argv[0], numbers[i], PROCESSES_MAX, round);
      return P5W_EXIT_USAGE;
    }
  }
  for (long i = 0; i < count; i++) measure(order, numbers[i], warmup, switches);
  return 0;
}
