// SPDX-License-Identifier: MIT
/*
 * mach-threads: two threads of one task exchange messages through shared memory, like the processes
 * of the workload ipc (wpi92 section 4.7). The client copies its message into the memory. The
 * server copies the message out, changes the first byte and copies the message back. Then the
 * client copies the message out. An empty message signals that the other thread may use the memory.
 * Phase = bytes. A bracket contains `transactions` messages with their answers.
 */
#include "mach.h"

#define BYTES_MAX 8192

static unsigned char shared[BYTES_MAX], request[BYTES_MAX], answer[BYTES_MAX], other[BYTES_MAX];
static char stack[STACK_BYTES] __attribute__((aligned(4096)));
static mach_port_t to_server, reply;
static volatile long size;
static mach_msg_header_t message;

static void serve(void) {
  static mach_msg_header_t received;
  for (int first = 1;; first = 0) {
    mach_answer(&received, first, to_server, sizeof(received));
    memcpy(other, shared, (size_t)size);
    other[0] = (unsigned char)~other[0];
    memcpy(shared, other, (size_t)size);
  }
}

static __attribute__((noinline)) void transact(long first, long count) {
  for (long i = first; i < first + count; i++) {
    request[size - 1] = (unsigned char)(i + 1);
    request[0] = (unsigned char)i;
    memcpy(shared, request, (size_t)size);
    mach_call(&message, sizeof(message), 0, to_server, reply, sizeof(message));
    memcpy(answer, shared, (size_t)size);
    if (answer[0] == (unsigned char)~request[0] &&
        (size == 1 || answer[size - 1] == request[size - 1]))
      continue;
    fprintf(stderr, "mach-threads: transaction %ld: not the answer to it\n", i);
    exit(P5W_EXIT_FAILED);
  }
}

int main(int argc, char **argv) {
  static const long sizes[] = {1, 64, 256, 512, 1024, 2048, 3072, 4096, 4097, 6144, 8192};
  long transactions = 100, warmup = 5;
  const struct p5w_option options[] = {
      {"transactions", "measured transactions for each size", &transactions, 1, NULL},
      {"warmup", "transactions before the first measured one", &warmup, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  to_server = mach_new_port();
  reply = mach_new_port();
  mach_port_t thread = mach_new_thread(mach_task_self(), serve, stack);
  mach_check(thread_resume(thread), "thread_resume");
  for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
    size = sizes[i];
    p5w_await_tick();
    transact(0, warmup);
    p5_begin((uint32_t)size);
    transact(warmup, transactions);
    p5_end((uint32_t)size);
  }
  mach_check(thread_terminate(thread), "thread_terminate");
  return 0;
}
