// SPDX-License-Identifier: MIT
/*
 * mach-create: the kernel operations from which fork() and exec() are built. A bracket contains one
 * operation. The phases are:
 *
 *   0   create and terminate a task without memory
 *   1   create and terminate a task with a copy of the program's memory
 *   2   create and terminate a thread in the program's own task
 *   3   create a thread, which runs and sends a message, and terminate it
 */
#include "mach.h"

static char stack[STACK_BYTES] __attribute__((aligned(4096)));
static mach_port_t port;
static uint32_t current;

static void say_so(void) {
  static mach_msg_header_t message;
  message.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
  message.msgh_size = sizeof(message);
  message.msgh_remote_port = port;
  message.msgh_local_port = MACH_PORT_NULL;
  message.msgh_id = 1;
  mach_msg_trap(&message, MACH_SEND_MSG, sizeof(message), 0, MACH_PORT_NULL, 0, MACH_PORT_NULL);
  for (;;) swtch_pri(0);
}

static void iteration(void) {
  mach_port_t self = mach_task_self(), made;
  mach_msg_header_t message;
  kern_return_t status;
  p5_begin(current);
  if (current < 2) {
    status = task_create(self, (boolean_t)current, &made);
    if (!status) status = task_terminate(made);
  } else {
    if (current == 2) {
      status = thread_create(self, &made);
    } else {
      made = mach_new_thread(self, say_so, stack);
      status = thread_resume(made);
      if (!status)
        status = mach_msg_trap(&message, MACH_RCV_MSG, 0, sizeof(message) + 64, port, 0, MACH_PORT_NULL);
    }
    if (!status) status = thread_terminate(made);
  }
  if (!status) status = mach_port_deallocate(self, made);
  p5_end(current);
  mach_check(status, "create");
}

int main(int argc, char **argv) {
  long iterations = 20, warmup = 3;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  port = mach_new_port();
  for (current = 0; current < 4; current++) p5w_repeat(iteration, warmup, iterations);
  return 0;
}
