// SPDX-License-Identifier: MIT
/*
 * The kernel's console. When a program first reads from the console or waits for input, the server
 * sends a read request to the kernel. The kernel answers with the typed bytes, and terminal.c makes
 * lines from these bytes.
 */
#include "device_calls.h"
#include "device_reply_server.h"
#include "device_request_calls.h"
#include "mach_port_calls.h"
#include "server.h"
#include "traps.h"

#define PART 128 /* bytes in a message; at most IO_INBAND_MAX (device_types.h) */

static mach_port_t console, typed; /* `typed`: the port that receives typed bytes */
static int asked;

void console_start(void) {
  kern_return_t status = device_open(device_port, D_READ | D_WRITE, "console", &console);
  if (status) panic("console", status);
}

void console_write(const char *bytes, size_t length) {
  while (length) {
    int written = 0;
    size_t part = MIN(length, PART);
    if (device_write_inband(console, 0, 0, (char *)bytes, part, &written) || written <= 0) return;
    bytes += written;
    length -= (size_t)written;
  }
}

mig_routine_t console_routine(const mach_msg_header_t *header) {
  return device_reply_server_routine((mach_msg_header_t *)header);
}

static void ask(void) {
  mach_port_t self = mach_task_self();
  if (asked) return;
  if (!typed) {
    if (mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &typed) ||
        mach_port_move_member(self, typed, port_set))
      panic("console", 0);
  }
  asked = device_read_request_inband(console, typed, 0, 0, PART) == 0;
}

int console_ready(void) {
  ask();
  return terminal_ready();
}

long console_read(const struct process *process, const struct file *file, struct request *request,
                  size_t wanted) {
  ask();
  return terminal_read(process, file, request, wanted);
}

kern_return_t device_read_reply_inband(mach_port_t port, kern_return_t status,
                                       const io_buf_ptr_inband_t data,
                                       mach_msg_type_number_t count) {
  (void)port;
  asked = 0;
  if (status) return KERN_SUCCESS; /* there will be no more input */
  terminal_input(data, count);
  ask();
  return KERN_SUCCESS;
}

/* Other device replies never come, because the server never makes such requests. */
kern_return_t device_open_reply(mach_port_t port, kern_return_t status, mach_port_t device) {
  (void)port, (void)status, (void)device;
  return KERN_FAILURE;
}

kern_return_t device_write_reply(mach_port_t port, kern_return_t status, int count) {
  (void)port, (void)status, (void)count;
  return KERN_FAILURE;
}

kern_return_t device_write_reply_inband(mach_port_t port, kern_return_t status, int count) {
  (void)port, (void)status, (void)count;
  return KERN_FAILURE;
}

kern_return_t device_read_reply(mach_port_t port, kern_return_t status, io_buf_ptr_t data,
                                mach_msg_type_number_t count) {
  (void)port, (void)status, (void)data, (void)count;
  return KERN_FAILURE;
}
