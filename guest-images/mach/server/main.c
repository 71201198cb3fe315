// SPDX-License-Identifier: MIT
/*
 * The UNIX server of guest mach: its start, and the loop that receives requests. Each process has
 * its own port, and one port set contains all these ports. A message is a system call (unix.defs)
 * or an exception (mach/exc.defs). One trap sends an answer and receives the next request.
 */
#include <elf.h>
#include <errno.h>
#include <linux/auxvec.h>
#include <mach/exception.h>
#include <mach/mig_errors.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#include "exc_server.h"
#include "mach_calls.h"
#include "mach_host_calls.h"
#include "mach_port_calls.h"
#include "messages.h"
#include "server.h"
#include "traps.h"
#include "unix_server.h"

#define WORDS_MAX 64
#define ANSWER_MAX 65536   /* for a call that does not give a size */
#define BULK_MAX (1 << 20) /* for a call that does */

/* The first process and the loader. The linker puts them here (link_server.py). */
extern const char _binary_archive_cpio_start[], _binary_archive_cpio_end[];

int main(int argc, char **argv);
int __libc_start_main(int (*)(int, char **), int, char **, void (*)(void), void (*)(void),
                      void (*)(void));

/* Data that musl expects on a program's stack. The kernel does not put these data there. */
_Noreturn void server_start(long *stack) {
  static long block[WORDS_MAX];
  long count = stack[0], used = 0;
  block[used++] = count;
  for (long i = 0; i < count && i < 32; i++) block[used++] = stack[1 + i];
  used += 2; /* the ends of arguments and environment */
  block[used++] = AT_PAGESZ;
  block[used++] = PAGE;
  __libc_start_main((int (*)(int, char **))main, (int)count, (char **)(block + 1), 0, 0, 0);
  panic("server_start", 0);
}

/* System calls that musl makes inside the server itself: memory, and messages about errors. */
long __mach_syscall(long number, long a, long b, long c, long d, long e, long f) {
  (void)d, (void)e, (void)f;
  switch (number) {
    case SYS_brk:
    case SYS_madvise:
    case SYS_rt_sigprocmask: return 0;
    case SYS_set_tid_address: return 1;
    case SYS_mmap2: {
      void *pages = pages_new((size_t)b);
      return pages ? (long)pages : -ENOMEM;
    }
    case SYS_munmap: pages_free((void *)a, (size_t)b); return 0;
    case SYS_write:
      if (a == 1 || a == 2) console_write((const char *)b, (size_t)c);
      return c;
    case SYS_exit_group:
    case SYS_exit: panic("exit", (int)a);
    default: return -ENOSYS;
  }
}

/* --- requests --------------------------------------------------------------------------------- */

static struct request made(int number, const int *arguments, char *in, size_t length) {
  struct request request = {.number = number, .in = in, .in_length = length, .deadline = NO_TIME};
  memcpy(request.arguments, arguments, sizeof(request.arguments));
  return request;
}

/* Carry out a call. After the fork, vfork() becomes the call VFORK_WAIT, which waits for the child.
 */
static long carry_out(struct process *process, struct request *request) {
  if (request->number == VFORK_WAIT) {
    const struct process *child = process_of_pid(request->arguments[0]);
    return child && child->vfork_of == process->pid ? WOULD_BLOCK : request->arguments[0];
  }
  long value = call_carry_out(process, request);
  if (value == WOULD_BLOCK && signal_waits(process)) {
    int written = request->number == SYS_write || request->number == SYS_sendto;
    return written && request->done ? (long)request->done : -EINTR;
  }
  if (request->number != SYS_vfork || value <= 0) return value;
  process_of_pid((int)value)->vfork_of = process->pid;
  request->number = VFORK_WAIT;
  request->arguments[0] = (int)value;
  return WOULD_BLOCK;
}

kern_return_t S_unix_call(mach_port_t port, mach_port_t reply, int number,
                          const arguments_t arguments, const small_t data,
                          mach_msg_type_number_t length, int *result, small_t answer,
                          mach_msg_type_number_t *answer_length) {
  struct process *process = process_of_port(port);
  struct request request = made(number, arguments, (char *)data, length);
  request.out = answer;
  request.out_room = UNIX_INLINE_MAX;
  long value = process ? carry_out(process, &request) : -ESRCH;
  if (value == WOULD_BLOCK) waiting_keep(process, reply, request);
  if (value == NO_ANSWER) mach_port_deallocate(mach_task_self(), reply);
  if (value == WOULD_BLOCK || value == NO_ANSWER) return MIG_NO_REPLY;
  *result = (int)value;
  *answer_length = request.out_length;
  return KERN_SUCCESS;
}

/* The largest size of a call's answer. For a read from a pipe, the size is at most the number of
 * available bytes.
 */
static size_t room_of(struct process *process, const struct request *request) {
  size_t wanted = (size_t)request->arguments[2];
  const struct file *file;
  switch (request->number) {
    case SYS_write:
    case SYS_pwrite64:
    case SYS_sendto:
    case SYS_execve: return 0;
    case SYS_read:
    case SYS_recvfrom:
      file = file_of(process, request->arguments[0]);
      return file && file->in ? MIN(wanted, file->in->used) : wanted;
    case SYS_pread64:
    case SYS_getdents64: return wanted;
    case SYS_ipc: return sysv_room(request);
    default: return ANSWER_MAX;
  }
}

/* A call with more input or output data than a message can hold. Its answer consists of pages. A
 * short answer is in `brief`, which can hold the inline data of a message.
 */
static long carry_out_bulk(struct process *process, struct request *request, char *brief) {
  size_t room = MIN(room_of(process, request), BULK_MAX);
  request->pages = room > UNIX_INLINE_MAX;
  request->out_room = request->pages ? room : UNIX_INLINE_MAX;
  request->out = request->pages ? pages_new(room) : brief;
  if (!request->out) return request->pages = 0, -ENOMEM;
  long value = carry_out(process, request);
  if (!request->pages) return value;
  if (request->out_length <= UNIX_INLINE_MAX) {
    if (request->out_length) memcpy(brief, request->out, request->out_length);
    pages_free(request->out, request->out_room);
    request->out = brief;
    request->pages = 0;
  } else if (PAGES(request->out_length) < PAGES(request->out_room)) {
    size_t used = PAGES(request->out_length);
    pages_free(request->out + used, PAGES(request->out_room) - used);
  }
  return value;
}

kern_return_t S_unix_bulk(mach_port_t port, mach_port_t reply, int number,
                          const arguments_t arguments, bulk_t data, mach_msg_type_number_t length,
                          int *result, answer_t *answer, mach_msg_type_number_t *answer_length,
                          boolean_t *deallocate) {
  struct process *process = process_of_port(port);
  struct request request = made(number, arguments, data, length);
  request.bulk = 1;
  long value = process ? carry_out_bulk(process, &request, *answer) : -ESRCH;
  if (value == WOULD_BLOCK) {
    waiting_keep(process, reply, request);
    return MIG_NO_REPLY;
  }
  waiting_discard(&request);
  if (value == NO_ANSWER) {
    mach_port_deallocate(mach_task_self(), reply);
    return MIG_NO_REPLY;
  }
  *result = (int)value;
  if (request.pages) *answer = request.out; /* otherwise *answer is set already */
  *answer_length = request.out_length;
  *deallocate = 1;
  return KERN_SUCCESS;
}

/* Try a waiting call again. Answer it, or let it continue to wait. */
static void again(struct process *process) {
  struct waiting waiting = process->waiting;
  struct request *request = &waiting.request;
  small_t answer;
  long value;
  waiting_forget(process);
  request->out_length = 0;
  if (request->bulk) {
    value = carry_out_bulk(process, request, answer);
  } else {
    request->out = answer;
    request->out_room = UNIX_INLINE_MAX;
    value = carry_out(process, request);
  }
  if (value == WOULD_BLOCK) {
    waiting_begin(process, waiting);
    return;
  }
  waiting_answer(&waiting, value, request);
  waiting_discard(request);
}

/* An event has happened. Try the waiting calls again, each once per round. */
static void wake(void) {
  static struct process *round[PROCESSES];
  while (woken) {
    int count = 0;
    woken = 0;
    for (struct process *one = first_waiting; one; one = one->next_waiting) round[count++] = one;
    while (count--)
      if (round[count]->waiting.active) again(round[count]); /* the oldest call first */
  }
}

/* The earliest time at which a waiting call or an alarm is due. */
static uint64_t deadline(void) {
  uint64_t first = NO_TIME;
  for (const struct process *one = first_waiting; one; one = one->next_waiting)
    if (one->waiting.request.deadline < first) first = one->waiting.request.deadline;
  if (alarms)
    for (int i = 0; i < PROCESSES; i++)
      if (processes[i].used && processes[i].alarm < first) first = processes[i].alarm;
  return first;
}

/* --- exceptions ------------------------------------------------------------------------------- */

static int signal_of(int exception, int code) {
  switch (exception) {
    case EXC_BAD_ACCESS: return SIGSEGV;
    case EXC_BAD_INSTRUCTION: return code == EXC_I386_INVOP ? SIGILL : SIGSEGV;
    case EXC_ARITHMETIC: return SIGFPE;
    case EXC_BREAKPOINT: return SIGTRAP;
    default: return SIGBUS;
  }
}

/* Whether the thread was at an instruction that may use a bad address (libc/traps.S). If so, make
 * the thread continue after the bytes that mark this instruction.
 */
static int was_probe(const struct process *process, mach_port_t task, mach_port_t thread) {
  struct i386_thread_state state;
  mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
  if (thread_get_state(thread, i386_REGS_SEGS_STATE, (thread_state_t)&state, &count)) return 0;
  if (process->entry && state.eip == process->entry) return 1; /* a signal came in between */
  vm_offset_t bytes, page = state.eip & ~(PAGE - 1);
  mach_msg_type_number_t length;
  size_t at = state.eip - page;
  if (at + 12 > PAGE || vm_read(task, page, PAGE, &bytes, &length)) return 0;
  const char *code = (const char *)bytes + at;
  int skip = 0;
  for (int i = 2; i <= 3; i++)
    if (code[i] == (char)0xC3 && memcmp(code + i + 1, UNIX_PROBE_MARK, 4) == 0) skip = i + 5;
  pages_free((void *)bytes, length);
  if (!skip) return 0;
  state.eip += (unsigned)skip;
  return !thread_set_state(thread, i386_REGS_SEGS_STATE, (thread_state_t)&state, count);
}

kern_return_t catch_exception_raise(mach_port_t port, mach_port_t thread, mach_port_t task,
                                    integer_t exception, integer_t code, integer_t subcode) {
  (void)subcode;
  struct process *process = process_of_port(port);
  int handled = process && exception == EXC_BAD_ACCESS && was_probe(process, task, thread);
  mach_port_deallocate(mach_task_self(), thread);
  mach_port_deallocate(mach_task_self(), task);
  if (process && !handled) signal_fault(process, signal_of(exception, code));
  return KERN_SUCCESS;
}

/* --- the loop --------------------------------------------------------------------------------- */

static mig_routine_t routine_of(const mach_msg_header_t *header) {
  mig_routine_t routine = unix_server_routine((mach_msg_header_t *)header);
  if (!routine) routine = exc_server_routine((mach_msg_header_t *)header);
  return routine ? routine : console_routine(header);
}

static _Noreturn void run(void) {
  static union message buffers[2];
  union message *in = &buffers[0], *out = &buffers[1];
  int answer = 0;
  for (;;) {
    union message *message = answer ? out : in;
    uint64_t until = deadline();
    mach_msg_option_t option = MACH_RCV_MSG | (answer ? MACH_SEND_MSG : 0);
    mach_msg_timeout_t time = 0;
    if (until != NO_TIME) {
      uint64_t now = now_ms();
      if (until <= now) {
        alarms_ring();
        woken = 1;
        wake();
        continue;
      }
      option |= MACH_RCV_TIMEOUT;
      time = (mach_msg_timeout_t)(until - now);
    }
    mach_msg_return_t status =
        mach_msg_trap(&message->header, option, answer ? message->header.msgh_size : 0,
                      sizeof(*message), port_set, time, MACH_PORT_NULL);
    if (status != MACH_MSG_SUCCESS && (answer || status == MACH_RCV_TIMED_OUT)) {
      answer = 0; /* it is sent, or the caller and its answer are gone */
      continue;
    }
    if (status != MACH_MSG_SUCCESS) panic("receive", status);
    if (answer) { /* the new request is in the buffer of the answer */
      out = in;
      in = message;
    }
    answer = message_serve(in, out, routine_of(&in->header));
    wake();
  }
}

int main(int argc, char **argv) {
  static char seed[32];
  char *environment[] = {seed, NULL};
  int apart = 0;
  if (argc < 3) panic("arguments", argc);
  host_port = (mach_port_t)strtoul(argv[1], NULL, 10);
  device_port = (mach_port_t)strtoul(argv[2], NULL, 10);
  for (int i = 3; i < argc; i++) {
    const char *found = strstr(argv[i], "p5seed=");
    if (found) snprintf(seed, sizeof(seed), "p5seed=%d", atoi(found + 7));
    if (strcmp(argv[i], "split") == 0) apart = 1;
  }
  if (!*seed) environment[0] = NULL;
  file_side_start(apart, _binary_archive_cpio_start,
                  (size_t)(_binary_archive_cpio_end - _binary_archive_cpio_start));
  kern_return_t status = mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_PORT_SET, &port_set);
  if (status) panic("port set", status);
  console_start();
  process_start_first("/init", environment);
  run();
}
