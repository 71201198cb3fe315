// SPDX-License-Identifier: MIT
/*
 * Calls that wait for an event: the server has kept their requests, and answers them later. A signal
 * or the end of a process ends the wait. main.c tries the calls again.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "mach_port_calls.h"
#include "server.h"
#include "traps.h"
#include "unix_reply_calls.h"

int woken;
struct process *first_waiting;

void waiting_begin(struct process *process, struct waiting waiting) {
  process->waiting = waiting;
  process->waiting.request.out = NULL;
  process->next_waiting = first_waiting;
  first_waiting = process;
}

/* Keep a call until it can continue. Copy its inline data, because the next message would overwrite
 * them.
 */
void waiting_keep(struct process *process, mach_port_t reply, struct request request) {
  if (!request.bulk && request.in_length) {
    char *copy = malloc(request.in_length);
    if (!copy) panic("no memory for a waiting call", 0);
    request.in = memcpy(copy, request.in, request.in_length);
  }
  waiting_begin(process, (struct waiting){1, reply, request});
}

void waiting_forget(struct process *process) {
  struct process **place = &first_waiting;
  while (*place != process) place = &(*place)->next_waiting;
  *place = process->next_waiting;
  process->waiting.active = 0;
}

/* Free the data that came with the call. */
void waiting_discard(struct request *request) {
  if (request->bulk) pages_free(request->in, request->in_length);
  else if (request->in_length) free(request->in);
}

/* Answer a call that has waited. Its caller may have ended. */
void waiting_answer(const struct waiting *waiting, long value, const struct request *request) {
  kern_return_t status = MACH_SEND_INVALID_DEST;
  if (value != NO_ANSWER && request->bulk)
    status = unix_bulk_reply(waiting->reply, KERN_SUCCESS, (int)value, request->out,
                             request->out_length);
  else if (value != NO_ANSWER)
    status = unix_call_reply(waiting->reply, KERN_SUCCESS, (int)value, request->out,
                             request->out_length);
  if (status != KERN_SUCCESS) mach_port_deallocate(mach_task_self(), waiting->reply);
  if (request->pages) pages_free(request->out, request->out_length);
}

/* A signal has come. A write() returns the number of bytes that it has written already. */
void waiting_interrupt(struct process *process) {
  struct waiting waiting = process->waiting;
  struct request *request = &waiting.request;
  if (request->number == VFORK_WAIT) return;
  waiting_forget(process);
  int written = request->number == SYS_write || request->number == SYS_sendto;
  request->out = NULL;
  request->out_length = 0;
  waiting_answer(&waiting, written && request->done ? (long)request->done : -EINTR, request);
  waiting_discard(request);
}

/* Drop a waiting call, because its process ends. */
void waiting_drop(struct process *process) {
  struct waiting *waiting = &process->waiting;
  if (!waiting->active) return;
  waiting_forget(process);
  mach_port_deallocate(mach_task_self(), waiting->reply);
  waiting_discard(&waiting->request);
}
