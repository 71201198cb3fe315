/* SPDX-License-Identifier: MIT */
/*
 * The common part of the benchmarks of Mach's own calls: more threads and tasks, and messages.
 * These programs are for the guests with GNU Mach (needs = ["mach-ports"]). A second thread must
 * not use the C library, because all calls of the library wait on the same port. The second thread
 * sends and receives its messages without the library.
 */
#ifndef P5LAB_WORKLOADS_MACH_H
#define P5LAB_WORKLOADS_MACH_H

#include <mach/mach_types.h>
#include <mach/message.h>
#include <mach/thread_status.h>
#include <stdint.h>

#include "mach_calls.h"
#include "mach_port_calls.h"
#include "p5w.h"
#include "traps.h"

#define STACK_BYTES 16384
#define SERVICE_PORT 50 /* name of a server's port, in the server task */

/* A message with its bytes inline. */
struct plain_message {
  mach_msg_header_t header;
  mach_msg_type_t type;
  char bytes[65536];
};

/* A message with its bytes out of line: the kernel maps their pages with copy on write. */
struct outside_message {
  mach_msg_header_t header;
  mach_msg_type_long_t type;
  char *bytes;
};

static inline void mach_check(kern_return_t status, const char *what) {
  if (status == KERN_SUCCESS) return;
  fprintf(stderr, "%s: Mach status %#x\n", what, (unsigned)status);
  exit(P5W_EXIT_FAILED);
}

/* Make a port on which this task can receive and to which it can send. */
static inline mach_port_t mach_new_port(void) {
  mach_port_t port, self = mach_task_self();
  mach_check(mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port), "port");
  mach_check(mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND), "send right");
  return port;
}

/* Make a thread in a task. It does not run yet. Its stack is in the memory of this program, or in
 * the copy of this memory in the other task.
 */
static inline mach_port_t mach_new_thread(mach_port_t task, void (*entry)(void), char *stack) {
  mach_port_t thread;
  struct i386_thread_state state = {.eip = (unsigned)(uintptr_t)entry,
                                    .uesp = (unsigned)(uintptr_t)stack + STACK_BYTES - 16};
  mach_check(thread_create(task, &thread), "thread_create");
  mach_check(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
                              i386_THREAD_STATE_COUNT), "thread_set_state");
  return thread;
}

/* Make a task with a copy of this program. In this task, `serve` receives from SERVICE_PORT.
 * Returns the port for messages to the task. The caller terminates *task.
 */
static inline mach_port_t mach_new_server(void (*serve)(void), mach_port_t *task) {
  static char stack[STACK_BYTES] __attribute__((aligned(4096)));
  mach_port_t port = mach_new_port();
  mach_check(task_create(mach_task_self(), 1, task), "task_create");
  mach_check(mach_port_insert_right(*task, SERVICE_PORT, port, MACH_MSG_TYPE_MOVE_RECEIVE), "service");
  mach_check(thread_resume(mach_new_thread(*task, serve, stack)), "thread_resume");
  return port;
}

/* Send to `port` and wait for the answer on `reply`. The answer overwrites the message. */
static inline void mach_call(mach_msg_header_t *message, mach_msg_size_t size, mach_msg_bits_t bits,
                             mach_port_t port, mach_port_t reply, mach_msg_size_t room) {
  message->msgh_bits =
      MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, reply ? MACH_MSG_TYPE_MAKE_SEND_ONCE : 0) | bits;
  message->msgh_size = size;
  message->msgh_remote_port = port;
  message->msgh_local_port = reply;
  message->msgh_id = 1;
  mach_check(mach_msg_trap(message, MACH_SEND_MSG | (reply ? MACH_RCV_MSG : 0), size, room, reply, 0,
                           MACH_PORT_NULL), "mach_msg");
}

/* Answer with a header only, and wait for the next message. With `first` the function sends no
 * answer.
 */
static inline void mach_answer(mach_msg_header_t *message, int first, mach_port_t from,
                               mach_msg_size_t room) {
  message->msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0);
  message->msgh_size = sizeof(*message);
  message->msgh_local_port = MACH_PORT_NULL;
  mach_msg_trap(message, MACH_RCV_MSG | (first ? 0 : MACH_SEND_MSG), first ? 0 : sizeof(*message), room,
                from, 0, MACH_PORT_NULL);
}

#endif
