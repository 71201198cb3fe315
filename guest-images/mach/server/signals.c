// SPDX-License-Identifier: MIT
/*
 * Signals. A program's own library stores the handlers. The server stores which signals the program
 * ignores or catches, and which signals are pending. To deliver a caught signal, the server sets a
 * word in the program's memory (struct unix_signals). Then there are three cases:
 *
 *   a call waits here       the call returns EINTR, and the library checks the word as it leaves
 *   the library is active   the library checks the word as it leaves
 *   the program runs        the server makes the thread continue at the library's entry, which
 *                           returns to the interrupted code
 *
 * The library then requests the pending signals (UNIX_TAKE) and calls the handlers.
 */
#include <errno.h>
#include <mach/thread_status.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "mach_calls.h"
#include "server.h"
#include "traps.h"

#define BIT(signal) (1u << ((signal) - 1))
#define UNSTOPPABLE (BIT(SIGKILL) | BIT(SIGSTOP))
#define STOPPING (BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU))
#define HARMLESS (BIT(SIGCHLD) | BIT(SIGURG) | BIT(SIGWINCH) | BIT(SIGCONT))

int alarms;

/* A copy of the program's page that contains its struct unix_signals. put_back() writes a changed
 * copy to the program, and frees the copy.
 */
struct view {
  vm_offset_t page, at;
  vm_offset_t copy;
  struct unix_signals *signals;
};

static int look(const struct process *process, struct view *view) {
  mach_msg_type_number_t length;
  view->at = process->signals % PAGE;
  view->page = process->signals - view->at;
  if (!process->signals || view->at + sizeof(struct unix_signals) > PAGE ||
      vm_read(process->task, view->page, PAGE, &view->copy, &length))
    return 0;
  view->signals = (struct unix_signals *)(view->copy + view->at);
  return 1;
}

static void put_back(const struct process *process, struct view *view, int changed) {
  if (changed) vm_write(process->task, view->page, view->copy, PAGE);
  pages_free((void *)view->copy, PAGE);
}

/* --- delivery -------------------------------------------------------------------------------- */

/* Make a running thread enter the library, which returns to the interrupted code. */
static int divert(struct process *process, struct unix_signals *signals) {
  struct i386_thread_state state;
  mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
  if (thread_get_state(process->thread, i386_REGS_SEGS_STATE, (thread_state_t)&state, &count))
    return 0;
  signals->resume = state.eip;
  signals->in_call = 1;
  state.eip = process->entry;
  return !thread_set_state(process->thread, i386_REGS_SEGS_STATE, (thread_state_t)&state, count);
}

/* Notify the program of a signal. */
static void notify(struct process *process, uint32_t bit) {
  struct view view;
  thread_suspend(process->thread);
  if (look(process, &view)) {
    view.signals->pending = 1;
    int blocked = (view.signals->blocked[0] & bit) != 0;
    if (!blocked && !view.signals->in_call) divert(process, view.signals);
    put_back(process, &view, 1);
    if (!blocked && process->waiting.active) waiting_interrupt(process);
  }
  thread_resume(process->thread);
}

static int is_blocked(struct process *process, uint32_t bit) {
  struct view view;
  if (bit & UNSTOPPABLE || !look(process, &view)) return 0;
  int blocked = (view.signals->blocked[0] & bit) != 0;
  put_back(process, &view, 0);
  return blocked;
}

/* Whether a call must not wait because a signal came while the program was in its library. */
int signal_waits(struct process *process) {
  struct view view;
  if (!process->pending || !look(process, &view)) return 0;
  int waits = (process->pending & ~view.signals->blocked[0]) != 0;
  put_back(process, &view, 0);
  return waits;
}

static void notify_parent(struct process *process) {
  process->reported = 0;
  woken = 1;
  struct process *parent = process_of_pid(process->parent);
  if (parent) signal_send(parent, SIGCHLD);
}

static void stop(struct process *process, int signal) {
  if (process->stopped) return;
  process->stopped = signal;
  task_suspend(process->task);
  notify_parent(process);
}

static void go_on(struct process *process) {
  process->pending &= ~STOPPING;
  if (!process->stopped) return;
  process->stopped = 0;
  task_resume(process->task);
}

/* The default action. */
static enum outcome by_default(struct process *process, int signal) {
  uint32_t bit = BIT(signal);
  if (bit & HARMLESS || process->pid == 1) return NOTHING;
  if (bit & STOPPING) {
    stop(process, signal);
    return NOTHING;
  }
  process_end(process, signal);
  return ENDED;
}

enum outcome signal_send(struct process *process, int signal) {
  uint32_t bit = BIT(signal);
  if (process->zombie || !process->task) return NOTHING;
  if (signal == SIGCONT) go_on(process);
  if (bit & UNSTOPPABLE) return by_default(process, signal);
  if (process->ignored & bit) return NOTHING;
  if (!(process->caught & bit)) {
    if (bit & HARMLESS) return NOTHING;
    if (!is_blocked(process, bit)) return by_default(process, signal);
  }
  process->pending |= bit;
  notify(process, bit);
  return NOTHING;
}

/* The program caused a fault, so it must not continue after the faulting instruction. */
void signal_fault(struct process *process, int signal) {
  struct view view;
  uint32_t bit = BIT(signal);
  int caught = process->caught & bit && look(process, &view);
  if (caught) {
    caught = !(view.signals->blocked[0] & bit) && !view.signals->in_call;
    if (caught) {
      view.signals->pending = 1;
      process->pending |= bit;
      caught = divert(process, view.signals);
    }
    put_back(process, &view, caught);
  }
  if (!caught) process_end(process, signal);
}

/* --- calls about signals --------------------------------------------------------------------- */

/* Take a pending signal that the program does not block. This function carries out default actions.
 */
long signal_take(struct process *process, const struct request *request) {
  uint32_t blocked = (uint32_t)request->arguments[0];
  for (int signal = 1; signal < 32; signal++) {
    uint32_t bit = BIT(signal);
    if (!(process->pending & bit & ~blocked)) continue;
    process->pending &= ~bit;
    if (process->caught & bit) return signal;
    if (!(process->ignored & bit) && by_default(process, signal) == ENDED) return NO_ANSWER;
  }
  return 0;
}

long signal_action(struct process *process, const struct request *request) {
  int signal = request->arguments[0], action = request->arguments[1];
  if (signal < 1 || signal > 64) return -EINVAL;
  if (signal > 31) return action > 1 ? -EINVAL : 0; /* we have no queued signals */
  uint32_t bit = BIT(signal);
  if (bit & UNSTOPPABLE) return action >= 0 ? -EINVAL : 0;
  long before = process->ignored & bit ? 1 : 0;
  if (action < 0) return before;
  process->ignored &= ~bit;
  process->caught &= ~bit;
  if (action == 1) {
    process->ignored |= bit;
    process->pending &= ~bit;
  }
  if (action > 1) process->caught |= bit;
  return before;
}

/* A new program catches nothing. */
void signals_after_exec(struct process *process) {
  process->caught = 0;
  process->signals = process->entry = 0;
}

static long send_to(struct process *process, int pid, int signal) {
  int found = 0;
  if (signal < 0 || signal > 64) return -EINVAL;
  for (int i = 0; i < PROCESSES; i++) {
    struct process *one = &processes[i];
    int group = pid == 0 ? process->group : -pid;
    if (!one->used || one->pid == 1) continue;
    if (pid > 0 ? one->pid != pid : pid == -1 ? one == process : one->group != group) continue;
    found = 1;
    if (signal >= 1 && signal < 32 && one != process) signal_send(one, signal);
  }
  if (!found && pid == 1 && !signal) return 0;
  if (!found && pid == 1) return -EPERM;
  if (!found) return -ESRCH;
  int own = pid == process->pid || (pid == 0) || (pid < -1 && process->group == -pid);
  if (own && signal >= 1 && signal < 32) signal_send(process, signal);
  return process->used && !process->zombie ? 0 : NO_ANSWER;
}

static uint64_t milliseconds(const int *time) {
  return (uint64_t)(unsigned)time[0] * 1000 + ((unsigned)time[1] + 999) / 1000;
}

/* setitimer(ITIMER_REAL), getitimer(): the interval and the value, in four words of 32 bits. */
static long timer(struct process *process, struct request *request) {
  int *before = (int *)request->out;
  if (request->arguments[0] != ITIMER_REAL) return -EINVAL;
  uint64_t now = now_ms(), left = process->alarm == NO_TIME ? 0 : process->alarm - now;
  if (process->alarm != NO_TIME && process->alarm <= now) left = 1;
  before[0] = (int)(process->alarm_every / 1000), before[1] = (int)(process->alarm_every % 1000) * 1000;
  before[2] = (int)(left / 1000), before[3] = (int)(left % 1000) * 1000;
  request->out_length = 4 * sizeof(int);
  if (request->number == SYS_getitimer) return 0;
  if (request->in_length != 4 * sizeof(int)) return -EINVAL;
  const int *wanted = (const int *)request->in;
  uint64_t first = milliseconds(wanted + 2);
  process->alarm_every = milliseconds(wanted);
  process->alarm = first ? now + first : NO_TIME;
  alarms = 1;
  return 0;
}

void alarms_ring(void) {
  uint64_t now = 0;
  for (int i = 0; i < PROCESSES; i++) {
    struct process *process = &processes[i];
    if (!process->used || process->alarm == NO_TIME) continue;
    if (!now) now = now_ms();
    if (process->alarm > now) continue;
    process->alarm = process->alarm_every ? now + process->alarm_every : NO_TIME;
    signal_send(process, SIGALRM);
  }
}

long signal_call(struct process *process, struct request *request) {
  const int *a = request->arguments;
  switch (request->number) {
    case SYS_kill: return send_to(process, a[0], a[1]);
    case SYS_tkill: return a[0] > 0 ? send_to(process, a[0], a[1]) : -EINVAL;
    case SYS_pause: return WOULD_BLOCK; /* until a signal ends the waiting */
    case SYS_rt_sigpending: {
      uint32_t pending[2] = {process->pending, 0};
      memcpy(request->out, pending, sizeof(pending));
      request->out_length = sizeof(pending);
      return 0;
    }
    default: return timer(process, request);
  }
}
