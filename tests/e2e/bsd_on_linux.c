/* SPDX-License-Identifier: MIT */
/*
 * bsd_on_linux CALLS PROGRAM [ARGUMENT...]: run a static i386 program for BSD on Linux for x86-64,
 * and write the number of each of its system calls to the file CALLS.
 *
 * A BSD program enters the kernel by `lcall $7,$0` or INT 80h, with the number in EAX and the
 * arguments above a return address on the stack (4.4BSD-Lite, sys/i386/i386/trap.c, syscall()).
 * This program changes each such call to the call of Linux that does the same, and gives the result
 * back as BSD does: the carry flag for an error, the error numbers of BSD, and a second result in
 * EDX. It ends with status 70 and one line for a call that 4.4BSD does not have or that has wrong
 * arguments.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WRONG = 70, GATE = 7, CARRY = 1, PROCESSES = 16, SCRATCH = 256 };
enum kind { PLAIN, FORK, EXEC, OPEN, MMAP, LSEEK, PIPE };

/* The numbers of 4.4BSD (sys/kern/syscalls.master, 8.1), those of Linux, and the number of words.
 */
static const struct call {
  int bsd, linux_, words;
  enum kind kind;
} calls[] = {
    {1, 1, 1, PLAIN},     {2, 2, 0, FORK},
    {3, 3, 3, PLAIN},     {4, 4, 3, PLAIN},
    {5, 5, 3, OPEN},      {6, 6, 1, PLAIN},
    {7, 114, 4, PLAIN},   {10, 10, 1, PLAIN},
    {12, 12, 1, PLAIN},   {20, 20, 0, PLAIN},
    {33, 33, 2, PLAIN},   {36, 36, 0, PLAIN},
    {41, 41, 1, PLAIN},   {42, 42, 0, PIPE},
    {58, 85, 3, PLAIN},   {59, 11, 3, EXEC},
    {66, 190, 0, FORK},   {73, 91, 2, PLAIN},
    {74, 125, 3, PLAIN},  {93, 142, 5, PLAIN},
    {120, 145, 3, PLAIN}, {121, 146, 3, PLAIN},
    {135, 360, 4, PLAIN}, {136, 39, 2, PLAIN},
    {137, 40, 1, PLAIN},  {197, 192, 8, MMAP},
    {199, 140, 5, LSEEK}, {263, 42, 1, PLAIN} /* of OpenBSD */,
};

static struct process {
  pid_t pid;
  int inside; /* between the entry and the return of a call */
  int again;  /* Linux starts the call again after a signal */
  const struct call *call;
  struct user_regs_struct before;
} processes[PROCESSES];

static FILE *record;

static _Noreturn void wrong(const char *what, long number) {
  fprintf(stderr, "bsd_on_linux: %s: %ld\n", what, number);
  for (int i = 0; i < PROCESSES; i++)
    if (processes[i].pid) kill(processes[i].pid, SIGKILL);
  exit(WRONG);
}

static struct process *process_of(pid_t pid) {
  struct process *free = NULL;
  for (int i = 0; i < PROCESSES; i++) {
    if (processes[i].pid == pid) return &processes[i];
    if (!processes[i].pid && !free) free = &processes[i];
  }
  if (!free) wrong("too many processes", PROCESSES);
  *free = (struct process){.pid = pid};
  return free;
}

static uint32_t word_at(pid_t pid, uint64_t address) {
  errno = 0;
  uint32_t word = (uint32_t)ptrace(PTRACE_PEEKDATA, pid, address, 0);
  if (errno) wrong("arguments that cannot be read at", (long)address);
  return word;
}

static uint32_t open_flags(uint32_t bsd) {
  static const uint32_t flags[][2] = {{0x4, 04000},  {0x8, 02000},   {0x80, 04010000},
                                      {0x200, 0100}, {0x400, 01000}, {0x800, 0200}};
  uint32_t result = bsd & 3, left = bsd & ~3u;
  for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++)
    if (left & flags[i][0]) result |= flags[i][1], left &= ~flags[i][0];
  if (left) wrong("flags of open that BSD does not have", left);
  return result;
}

static uint32_t map_flags(uint32_t bsd) {
  if (bsd & ~0x1013u) wrong("flags of mmap that BSD does not have", bsd);
  return (bsd & 0x13) | (bsd & 0x1000 ? 0x20 : 0);
}

static const struct call *call_of(uint32_t number) {
  for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++)
    if (calls[i].bsd == (int)number) return &calls[i];
  wrong("a system call that 4.4BSD does not have", number);
}

/* Puts the arguments of Linux into `a`. Memory below the stack is free. */
static void change(struct process *one, const uint32_t *of_bsd, uint32_t *a) {
  uint32_t scratch = (uint32_t)one->before.rsp - SCRATCH;
  memcpy(a, of_bsd, 6 * sizeof(*a));
  switch (one->call->kind) {
    case OPEN:
      a[1] = open_flags(a[1]);
      break;
    case MMAP:
      if (of_bsd[5] || of_bsd[7] || of_bsd[6] % 4096) wrong("offset of mmap", of_bsd[6]);
      a[3] = map_flags(a[3]);
      a[5] = of_bsd[6] / 4096;
      break;
    case LSEEK: /* file, high, low, where to put the result, from */
      if (of_bsd[1]) wrong("the word before the offset of lseek", of_bsd[1]);
      a[1] = of_bsd[3], a[2] = of_bsd[2], a[3] = scratch, a[4] = of_bsd[4];
      break;
    case PIPE:
      a[0] = scratch;
      break;
    default:
      break;
  }
}

static void enter(struct process *one) {
  struct user_regs_struct regs;
  uint32_t of_bsd[8] = {0}, a[6];
  ptrace(PTRACE_GETREGS, one->pid, 0, &regs);
  if (one->again) {
    one->again = 0;
    return;
  }
  one->before = regs;
  one->call = call_of((uint32_t)regs.orig_rax);
  fprintf(record, "%d\n", one->call->bsd);
  fflush(record);
  for (int i = 0; i < one->call->words; i++) of_bsd[i] = word_at(one->pid, regs.rsp + 4 + 4 * i);
  change(one, of_bsd, a);
  regs.orig_rax = one->call->linux_;
  regs.rbx = a[0], regs.rcx = a[1], regs.rdx = a[2];
  regs.rsi = a[3], regs.rdi = a[4], regs.rbp = a[5];
  ptrace(PTRACE_SETREGS, one->pid, 0, &regs);
}

static uint32_t bsd_error(long error) {
  static const int different[][2] = {{EAGAIN, 35}, {EDEADLK, 11},   {ENAMETOOLONG, 63},
                                     {ELOOP, 62},  {ENOTEMPTY, 66}, {ENOSYS, 78}};
  for (size_t i = 0; i < sizeof(different) / sizeof(*different); i++)
    if (different[i][0] == error) return (uint32_t)different[i][1];
  if (error > 34) wrong("an error that this program does not know", error);
  return (uint32_t)error;
}

/* Gives a result to a process. */
static void give(pid_t pid, const struct user_regs_struct *before, uint32_t eax, uint32_t edx,
                 int failed) {
  struct user_regs_struct regs = *before;
  regs.orig_rax = (unsigned long long)-1;
  regs.rax = eax, regs.rdx = edx;
  regs.eflags = (regs.eflags & ~(unsigned long long)CARRY) | (failed ? CARRY : 0);
  ptrace(PTRACE_SETREGS, pid, 0, &regs);
}

static void leave(struct process *one) {
  struct user_regs_struct regs;
  ptrace(PTRACE_GETREGS, one->pid, 0, &regs);
  long result = (int32_t)regs.rax;
  if (result <= -512 && result >= -516) { /* ERESTARTSYS and its like */
    one->again = 1;
    return;
  }
  if (one->call->kind == EXEC && result == 0) return;
  int failed = result < 0 && result > -4096;
  uint32_t scratch = (uint32_t)one->before.rsp - SCRATCH, eax = (uint32_t)result;
  uint32_t edx = one->call->kind == FORK ? 0 : (uint32_t)one->before.rdx;
  if (failed) {
    eax = bsd_error(-result);
  } else if (one->call->kind == PIPE || one->call->kind == LSEEK) {
    eax = word_at(one->pid, scratch), edx = word_at(one->pid, scratch + 4);
  }
  give(one->pid, &one->before, eax, edx, failed);
}

/* The parent of a new process waits in its call. The child gets its parent's number, and 1 in EDX.
 */
static void born(struct process *parent) {
  unsigned long pid;
  int status;
  ptrace(PTRACE_GETEVENTMSG, parent->pid, 0, &pid);
  process_of((pid_t)pid);
  if (waitpid((pid_t)pid, &status, __WALL) < 0) wrong("a child that did not begin", (long)pid);
  give((pid_t)pid, &parent->before, (uint32_t)parent->pid, 1, 0);
  ptrace(PTRACE_SYSCALL, (pid_t)pid, 0, 0);
}

/* Changes `lcall $7,$0` to INT 80h and NOPs. Returns 0 if there is another instruction. */
static int open_gate(pid_t pid) {
  static const unsigned char gate[GATE] = {0x9A, 0, 0, 0, 0, 7, 0};
  static const unsigned char interrupt[GATE] = {0xCD, 0x80, 0x90, 0x90, 0x90, 0x90, 0x90};
  struct user_regs_struct regs;
  ptrace(PTRACE_GETREGS, pid, 0, &regs);
  uint64_t bytes = (uint64_t)ptrace(PTRACE_PEEKTEXT, pid, regs.rip, 0);
  if (memcmp(&bytes, gate, GATE) != 0) return 0;
  memcpy(&bytes, interrupt, GATE);
  return ptrace(PTRACE_POKETEXT, pid, regs.rip, bytes) == 0;
}

static void stopped(struct process *one, int status) {
  int signal = WSTOPSIG(status), event = status >> 16;
  if (signal == (SIGTRAP | 0x80)) {
    one->inside ? leave(one) : enter(one);
    one->inside = !one->inside;
    signal = 0;
  } else if (event) {
    if (event == PTRACE_EVENT_FORK || event == PTRACE_EVENT_VFORK) born(one);
    signal = 0;
  } else if (signal == SIGSEGV && open_gate(one->pid)) {
    signal = 0;
  }
  ptrace(PTRACE_SYSCALL, one->pid, 0, signal);
}

int main(int argc, char **argv) {
  if (argc < 3 || !(record = fopen(argv[1], "w"))) return 2;
  pid_t first = fork();
  if (first == 0) {
    if (ptrace(PTRACE_TRACEME, 0, 0, 0) != 0) _exit(77);
    raise(SIGSTOP);
    execv(argv[2], argv + 2);
    _exit(77);
  }
  int status;
  if (waitpid(first, &status, 0) < 0 || !WIFSTOPPED(status)) return 77;
  process_of(first)->inside = 1; /* execv is a call of this program, and not one of BSD */
  processes[0].call = &(const struct call){59, 11, 3, EXEC};
  ptrace(PTRACE_SETOPTIONS, first, 0,
         PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC |
             PTRACE_O_EXITKILL);
  /* Up to the first instruction of the program: the event, then the return of execv. */
  ptrace(PTRACE_CONT, first, 0, 0);
  if (waitpid(first, &status, __WALL) < 0 || status >> 16 != PTRACE_EVENT_EXEC) return 77;
  ptrace(PTRACE_SYSCALL, first, 0, 0);
  for (pid_t pid; (pid = waitpid(-1, &status, __WALL)) > 0;) {
    struct process *one = process_of(pid);
    if (WIFSTOPPED(status)) {
      stopped(one, status);
    } else {
      one->pid = 0;
      if (pid == first) return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
  return 1;
}
