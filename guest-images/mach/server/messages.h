/* SPDX-License-Identifier: MIT */
/* The messages that a task receives, and the loop of a task that only serves one port. */
#ifndef P5LAB_MESSAGES_H
#define P5LAB_MESSAGES_H

#include "server.h"

#define MESSAGE_MAX 4096

union message {
  mach_msg_header_t header;
  mig_reply_header_t reply;
  char bytes[MESSAGE_MAX];
};

/* Carry out the request of a message. Returns whether there is an answer to send. */
int message_serve(union message *in, union message *out, mig_routine_t routine);

#endif
