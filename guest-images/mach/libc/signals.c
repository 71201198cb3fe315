// SPDX-License-Identifier: MIT
/*
 * Signals in the program: the handlers, the blocked signals, and the calls of the handlers. The
 * server stores only whether a signal is caught. server/signals.c contains the server's part. The
 * library calls a handler as a function. Therefore there is no frame for sigreturn(), and the
 * handler gets an empty context. If the signal arrives while the program runs its own code, the
 * call comes from i386/signal.S. Otherwise the library calls the handler after the current system
 * call.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>
#include <ucontext.h>

#include "signals.h"
#include "traps.h"

#define SIGNALS 65
#define ALL 0xFFFFFFFFu /* musl blocks all signals for a short time; a program cannot do that */

/* The structure that musl passes to the system. */
struct action {
  uintptr_t handler;
  unsigned long flags;
  uintptr_t restorer;
  unsigned mask[2];
};

/* This structure lies within one page, because the server maps that page. */
HIDDEN volatile struct unix_signals __mach_signals __attribute__((aligned(32)));
HIDDEN int __mach_signals_known;
static struct action actions[SIGNALS];
static int held; /* the server may store signals that are blocked */

static void make_known(void) {
  int request[6] = {(int)(uintptr_t)&__mach_signals, (int)(uintptr_t)__mach_signal_entry};
  if (__mach_signals_known) return;
  __mach_signals_known = 1;
  __mach_plain_call(UNIX_SIGNALS, request);
}

static long set_action(const int *a) {
  const struct action *new = (const struct action *)a[1];
  struct action *old = (struct action *)a[2];
  int number = a[0], request[6] = {number, -1};
  if ((new && __mach_probe_read(new)) || (old && __mach_probe_write(old))) return -EFAULT;
  if (number < 1 || number >= SIGNALS) return -EINVAL;
  struct action before = actions[number], after = new ? *new : before;
  if (new) request[1] = after.handler > 1 ? 2 : (int)after.handler;
  if (request[1] > 1) make_known();
  /* The server has the inherited state, and the library has the handlers. */
  if (new || !before.handler) {
    long ignored = __mach_plain_call(SYS_rt_sigaction, request);
    if (ignored < 0) return ignored;
    if (!before.handler) before.handler = (uintptr_t)ignored;
  }
  if (new) actions[number] = after;
  if (old) *old = before;
  return 0;
}

static long set_mask(const int *a) {
  const unsigned *set = (const unsigned *)a[1];
  unsigned *old = (unsigned *)a[2], before[2], after[2];
  if ((set && __mach_probe_read(set)) || (old && __mach_probe_write(old))) return -EFAULT;
  for (int i = 0; i < 2; i++) {
    before[i] = after[i] = __mach_signals.blocked[i];
    if (!set) continue;
    if (a[0] == SIG_BLOCK) after[i] |= set[i];
    else if (a[0] == SIG_UNBLOCK) after[i] &= ~set[i];
    else if (a[0] == SIG_SETMASK) after[i] = set[i];
    else return -EINVAL;
  }
  if (after[0] != ALL) after[0] &= ~(1u << (SIGKILL - 1) | 1u << (SIGSTOP - 1));
  if (after[0] && after[0] != ALL && !(after[0] == 0x7FFFFFFF)) make_known();
  if (old) memcpy(old, before, sizeof(before));
  __mach_signals.blocked[0] = after[0];
  __mach_signals.blocked[1] = after[1];
  if (held && before[0] & ~after[0]) {
    held = 0;
    __mach_signals.pending = 1;
  }
  return 0;
}

/* Wait for a signal with another mask. */
static long suspend(const int *a) {
  const unsigned *set = (const unsigned *)a[0];
  if (__mach_probe_read(set)) return -EFAULT;
  unsigned before = __mach_signals.blocked[0];
  int nothing[6] = {0};
  make_known();
  __mach_signals.blocked[0] = set[0];
  long result = __mach_plain_call(SYS_pause, nothing);
  __mach_signals.in_call--;
  if (__mach_signals.pending) __mach_signals_deliver();
  __mach_signals.in_call++;
  __mach_signals.blocked[0] = before;
  if (held) __mach_signals.pending = 1, held = 0;
  return result;
}

long __mach_signal_call(long number, const int *a) {
  if (number == SYS_rt_sigaction) return set_action(a);
  return number == SYS_rt_sigprocmask ? set_mask(a) : suspend(a);
}

static void call_handler(int number, const struct action *action) {
  unsigned before = __mach_signals.blocked[0];
  __mach_signals.blocked[0] = before | action->mask[0] |
                              (action->flags & SA_NODEFER ? 0 : 1u << (number - 1));
  __mach_signals.in_call--;
  if (action->flags & SA_SIGINFO) {
    siginfo_t information = {.si_signo = number};
    ucontext_t context = {0};
    ((void (*)(int, siginfo_t *, void *))action->handler)(number, &information, &context);
  } else {
    ((void (*)(int))action->handler)(number);
  }
  __mach_signals.in_call++;
  __mach_signals.blocked[0] = before;
  if (held) __mach_signals.pending = 1, held = 0;
}

/* Handle all pending signals except the blocked ones. */
static int run_handlers(void) {
  int again = 1;
  while (__mach_signals.pending) {
    int request[6] = {(int)__mach_signals.blocked[0]}, number;
    __mach_signals.pending = 0;
    while ((number = (int)__mach_plain_call(UNIX_TAKE, request)) > 0) {
      struct action action = actions[number];
      if (action.handler <= 1) continue;
      if (!(action.flags & SA_RESTART)) again = 0;
      if (action.flags & SA_RESETHAND) {
        int standard[6] = {number, 0};
        actions[number].handler = 0;
        __mach_plain_call(SYS_rt_sigaction, standard);
      }
      call_handler(number, &action);
      request[0] = (int)__mach_signals.blocked[0];
    }
    if (request[0]) held = 1;
  }
  return again;
}

int __mach_signals_deliver(void) {
  int again = 1;
  do {
    __mach_signals.in_call++;
    again &= run_handlers();
    __mach_signals.in_call--;
  } while (__mach_signals.pending); /* a signal came in between */
  return again;
}

/* Returns whether SA_RESTART repeats this call. A call that is not repeated returns EINTR. */
int __mach_is_restarted(long number) {
  switch (number) {
    case SYS_poll:
    case SYS__newselect:
    case SYS_pselect6:
    case SYS_pselect6_time64:
    case SYS_pause:
    case SYS_rt_sigsuspend:
    case SYS_nanosleep:
    case SYS_clock_nanosleep_time32:
    case SYS_clock_nanosleep_time64:
    case SYS_ipc: return 0;
    default: return 1;
  }
}

/* Called from i386/signal.S. Before this call, the server has set in_call to 1. */
HIDDEN void __mach_signal_caught(void);
void __mach_signal_caught(void) {
  __mach_signals.in_call = 0;
  __mach_signals_deliver();
}
