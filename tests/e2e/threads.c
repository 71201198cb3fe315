// SPDX-License-Identifier: MIT
// Two threads of one program: the second has a name of its own and calls the kernel twice as often.
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

static volatile unsigned sum;

static void work(unsigned calls) {
  for (unsigned i = 0; i < calls; i++) {
    for (unsigned turn = 0; turn < 1000; turn++) sum += turn;
    sched_yield();
  }
}

static void *second(void *argument) {
  prctl(PR_SET_NAME, "second");
  work(20);
  return argument;
}

int main(void) {
  pthread_t thread;
  if (pthread_create(&thread, 0, second, 0)) return 1;
  work(10);
  return pthread_join(thread, 0);
}
