// SPDX-License-Identifier: MIT
/*
 * Messages: each one is a request to a routine that MIG has made, and each answer has a header of
 * its own. The server and the file server receive them with one trap that also sends the answer
 * before.
 */
#include <mach/mig_errors.h>

#include "messages.h"
#include "traps.h"

/* Carry out the request of a message. Returns whether there is an answer to send. */
int message_serve(union message *in, union message *out, mig_routine_t routine) {
  out->header = (mach_msg_header_t){
      .msgh_bits = MACH_MSGH_BITS(MACH_MSGH_BITS_REMOTE(in->header.msgh_bits), 0),
      .msgh_size = sizeof(mig_reply_header_t),
      .msgh_remote_port = in->header.msgh_remote_port,
      .msgh_id = in->header.msgh_id + 100};
  out->reply.RetCodeType = (mach_msg_type_t){
      .msgt_name = MACH_MSG_TYPE_INTEGER_32, .msgt_size = 32, .msgt_number = 1, .msgt_inline = 1};
  if (routine) routine(&in->header, &out->header);
  else out->reply.RetCode = MIG_BAD_ID;
  return out->reply.RetCode != MIG_NO_REPLY && out->header.msgh_remote_port != MACH_PORT_NULL;
}

_Noreturn void serve_port(mach_port_t port, mig_routine_t (*find)(const mach_msg_header_t *)) {
  union message *in = pages_new(2 * sizeof(*in)), *out = in + 1;
  for (int answer = 0;;) {
    union message *message = answer ? out : in;
    mach_msg_return_t status = mach_msg_trap(
        &message->header, MACH_RCV_MSG | (answer ? MACH_SEND_MSG : 0),
        answer ? message->header.msgh_size : 0, sizeof(*message), port, 0, MACH_PORT_NULL);
    if (status != MACH_MSG_SUCCESS && !answer) panic("receive", status);
    if (status != MACH_MSG_SUCCESS) { /* the sender is gone */
      answer = 0;
      continue;
    }
    if (answer) { /* the new request is in the buffer of the answer */
      out = in;
      in = message;
    }
    answer = message_serve(in, out, find(&in->header));
  }
}
