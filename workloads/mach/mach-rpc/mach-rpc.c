// SPDX-License-Identifier: MIT
/*
 * mach-rpc: a message to a server in another task, and its answer, both empty. A bracket contains
 * one call, which sends the message and receives the answer. The processor switches to the kernel,
 * to the server, and back.
 */
#include "mach.h"

static mach_port_t port, reply;
static mach_msg_header_t message;

static void serve(void) {
  static mach_msg_header_t request;
  for (int first = 1;; first = 0) mach_answer(&request, first, SERVICE_PORT, sizeof(request));
}

static void iteration(void) {
  p5_begin(0);
  mach_call(&message, sizeof(message), 0, port, reply, sizeof(message));
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  mach_port_t task;
  p5w_start(argc, argv, options);
  port = mach_new_server(serve, &task);
  reply = mach_new_port();
  p5w_repeat(iteration, warmup, iterations);
  mach_check(task_terminate(task), "task_terminate");
  return 0;
}
