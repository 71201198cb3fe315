// SPDX-License-Identifier: MIT
/*
 * mach-message: a message with a number of bytes to a server in another task, and an empty answer.
 * Phase = bytes. A bracket contains one message.
 *
 *   transfer=inline        the kernel copies the bytes in and out
 *   transfer=out-of-line   the kernel maps the pages of the bytes into the server, with copy on
 *                          write; the server reads one byte of each page and then unmaps the pages
 *
 * The server checks the first and the last byte, which depend on the message's number.
 */
#include "mach.h"

enum transfer { INLINE, OUTSIDE };
static const char *const transfers[] = {"inline", "out-of-line", NULL};
static const long sizes[] = {64, 256, 1024, 4096, 16384, 65536};
#define SIZES (sizeof(sizes) / sizeof(*sizes))

union message {
  mach_msg_header_t header;
  struct plain_message plain;
  struct outside_message outside;
};

static union message message, request;
static long transfer, size;
static char source[65536] __attribute__((aligned(4096)));
static mach_port_t port, reply;
static unsigned char number;

/* The id of a message is its number. The id of an answer is 1 if the bytes were right, else 2. */
static void serve(void) {
  volatile char sum;
  for (int first = 1;; first = 0) {
    mach_answer(&request.header, first, SERVICE_PORT, sizeof(request));
    long count = transfer == INLINE ? (long)request.plain.type.msgt_number
                                    : (long)request.outside.type.msgtl_number;
    char *bytes = transfer == INLINE ? request.plain.bytes : request.outside.bytes;
    int right = bytes[0] == (char)request.header.msgh_id && bytes[count - 1] == bytes[0];
    for (long at = 0; at < count; at += 4096) sum = bytes[at];
    (void)sum;
    request.header.msgh_id = right ? 1 : 2;
    if (transfer == OUTSIDE)
      syscall_vm_deallocate(mach_task_self(), (vm_offset_t)bytes, (vm_size_t)count);
  }
}

static void send_one(mach_msg_bits_t bits, mach_msg_size_t length) {
  message.header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE) | bits;
  message.header.msgh_size = length;
  message.header.msgh_remote_port = port;
  message.header.msgh_local_port = reply;
  message.header.msgh_id = number;
  mach_msg_trap(&message.header, MACH_SEND_MSG | MACH_RCV_MSG, length, sizeof(message), reply, 0,
                MACH_PORT_NULL);
}

static void iteration(void) {
  char *bytes = transfer == INLINE ? message.plain.bytes : source;
  number++;
  bytes[0] = bytes[size - 1] = (char)number;
  if (transfer == INLINE) {
    message.plain.type = (mach_msg_type_t){.msgt_name = MACH_MSG_TYPE_CHAR, .msgt_size = 8,
                                           .msgt_number = (unsigned)(size < 4096 ? size : 0),
                                           .msgt_inline = 1};
  } else {
    message.outside.type = (mach_msg_type_long_t){
        .msgtl_header = {.msgt_longform = 1}, .msgtl_name = MACH_MSG_TYPE_CHAR, .msgtl_size = 8,
        .msgtl_number = (unsigned)size};
    message.outside.bytes = source;
  }
  p5_begin((uint32_t)size);
  if (transfer == INLINE)
    send_one(0, (mach_msg_size_t)(offsetof(struct plain_message, bytes) + (size_t)size));
  else
    send_one(MACH_MSGH_BITS_COMPLEX, sizeof(struct outside_message));
  p5_end((uint32_t)size);
  if (message.header.msgh_id != 1) {
    fprintf(stderr, "mach-message: %ld bytes: not what was sent\n", size);
    exit(P5W_EXIT_FAILED);
  }
}

int main(int argc, char **argv) {
  long iterations = 20, warmup = 3;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"transfer", "inline or out-of-line", &transfer, 0, transfers},
      {0}};
  mach_port_t task;
  p5w_start(argc, argv, options);
  port = mach_new_server(serve, &task);
  reply = mach_new_port();
  for (size_t i = 0; i < SIZES; i++) {
    size = sizes[i];
    if (transfer == INLINE && size > 2048) break; /* the kernel's type field counts to 4095 */
    p5w_repeat(iteration, warmup, iterations);
  }
  mach_check(task_terminate(task), "task_terminate");
  return 0;
}
