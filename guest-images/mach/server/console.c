// SPDX-License-Identifier: MIT
/*
 * The terminal: the kernel's console. It edits lines itself; the server asks it for one when a program
 * reads, and gets it as a message. One foreground group, one size.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "device_calls.h"
#include "device_reply_server.h"
#include "device_request_calls.h"
#include "mach_port_calls.h"
#include "server.h"
#include "traps.h"

#define LINE 256
#define WRITE_MAX 128 /* of a message */

static mach_port_t console, lines; /* `lines`: where what was read comes to */
static char line[LINE];
static size_t line_used, line_begin;
static int asked, ended;
static int foreground; /* group */

void console_start(void) {
  kern_return_t status = device_open(device_port, D_READ | D_WRITE, "console", &console);
  if (status) panic("console", status);
}

void console_write(const char *bytes, size_t length) {
  while (length) {
    int written = 0;
    size_t part = MIN(length, WRITE_MAX);
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
  if (!lines) {
    if (mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &lines) ||
        mach_port_move_member(self, lines, port_set))
      panic("console", 0);
  }
  asked = device_read_request_inband(console, lines, 0, 0, WRITE_MAX) == 0;
}

int console_ready(void) {
  if (line_begin == line_used && !ended) ask();
  return line_begin < line_used || ended;
}

long console_read(struct file *file, struct request *request, size_t wanted) {
  if (!console_ready()) return file->flags & O_NONBLOCK ? -EAGAIN : WOULD_BLOCK;
  size_t count = MIN(wanted, line_used - line_begin);
  memcpy(request->out, line + line_begin, count);
  line_begin += count;
  ended = 0;
  request->out_length = count;
  return (long)count;
}

kern_return_t device_read_reply_inband(mach_port_t port, kern_return_t status,
                                       const io_buf_ptr_inband_t data,
                                       mach_msg_type_number_t count) {
  (void)port;
  asked = 0;
  line_begin = 0;
  line_used = status ? 0 : MIN(count, LINE);
  memcpy(line, data, line_used);
  for (size_t i = 0; i < line_used; i++)
    if (line[i] == '\r') line[i] = '\n';
  if (!line_used || line[0] == 4) ended = 1, line_used = 0; /* ^D */
  woken = 1;
  return KERN_SUCCESS;
}

/* Other answers of devices are never asked for. */
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

/* As the kernel of Linux lays a struct termios out. */
struct kernel_termios {
  unsigned input, output, control, local;
  unsigned char line, characters[19];
};

long console_control(struct process *process, struct request *request) {
  static struct kernel_termios settings = {
      ICRNL, OPOST | ONLCR, CREAD | CS8 | B115200, ISIG | ICANON | ECHO | ECHOE, 0,
      {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26}};
  switch (request->arguments[1]) {
    case TCGETS:
      memcpy(request->out, &settings, sizeof(settings));
      request->out_length = sizeof(settings);
      return 0;
    case TCSETS:
    case TCSETSW:
    case TCSETSF:
      if (request->in_length != sizeof(settings)) return -EINVAL;
      memcpy(&settings, request->in, sizeof(settings));
      return 0;
    case TIOCGWINSZ: {
      struct winsize size = {.ws_row = 25, .ws_col = 80};
      memcpy(request->out, &size, sizeof(size));
      request->out_length = sizeof(size);
      return 0;
    }
    case TIOCGPGRP: {
      int group = foreground ? foreground : process->group;
      memcpy(request->out, &group, sizeof(group));
      request->out_length = sizeof(group);
      return 0;
    }
    case TIOCSPGRP:
      if (request->in_length != sizeof(int)) return -EINVAL;
      memcpy(&foreground, request->in, sizeof(int));
      return 0;
    case TIOCSCTTY:
    case TCSBRK: return 0;
    default: return -ENOTTY;
  }
}
