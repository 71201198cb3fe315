/* SPDX-License-Identifier: MIT */
/*
 * The UNIX server: the declarations that its source files share. One thread serves all processes,
 * one message after another. Requests about files go through fs.h to the file side, which may be
 * another task.
 */
#ifndef P5LAB_SERVER_H
#define P5LAB_SERVER_H

#include <mach/mach_types.h>
#include <mach/message.h>
#include <mach/mig_errors.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "fs.h"
#include "unix_types.h"

#define OPEN_MAX_FILES 256
#define PROCESSES 128
#define NO_TIME UINT64_MAX
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* Special results of a call, in addition to numbers and -errno. */
#define WOULD_BLOCK (-10000) /* answered later, when the event has happened */
#define NO_ANSWER (-10001)   /* never answered: the caller's task is gone */

/* --- open files ------------------------------------------------------------------------------- */

/* A pipe: bytes between a writer and a reader. */
struct pipe {
  unsigned readers, writers;
  size_t begin, used;
  char *bytes;
};

/* An open file, as shared by dup() and fork(). Regular files, directories and devices have a node
 * on the file side. Pipes and sockets are in this task.
 */
struct file {
  unsigned references;
  int flags; /* as in open() */
  enum kind kind;
  int node;
  uint32_t offset;
  struct pipe *in, *out; /* the pipes that it reads from and writes to */
  struct socket *socket;
  uint32_t counters; /* the selected events, as in CESR */
};

/* --- processes -------------------------------------------------------------------------------- */

struct request {
  int number;
  int arguments[6];
  char *in;
  size_t in_length;
  char *out; /* place for the answer */
  size_t out_room, out_length;
  size_t done; /* bytes that a call in parts has already moved */
  uint64_t deadline;
  int bulk;  /* its input is pages */
  int pages; /* `out` is pages */
};

/* A call that waits. */
struct waiting {
  int active;
  mach_port_t reply;
  struct request request;
};

/* System V memory that a process has mapped. */
struct attached {
  struct attached *next;
  struct segment *segment;
  vm_offset_t address;
};

struct process {
  int pid, parent, group, session, used, zombie, orphan;
  int status; /* as wait() gives it */
  int stopped, reported; /* stopped by a signal; whether wait() has reported it */
  int vfork_of;          /* the process that waits until this process has executed a program */
  mach_port_t task, thread, port;
  struct file *files[OPEN_MAX_FILES];
  unsigned char close_on_exec[OPEN_MAX_FILES];
  int directory; /* a node, held */
  mode_t mask;
  uint32_t ignored, caught, pending; /* signals, from bit 0 on */
  vm_offset_t signals, entry; /* the library's struct unix_signals and its entry; 0: not set */
  uint64_t alarm, alarm_every;
  struct attached *attached;
  struct waiting waiting;
  struct process *next_waiting;
};

extern struct process processes[PROCESSES];

struct process *process_of_port(mach_port_t port);
struct process *process_of_pid(int pid);
void process_start_first(const char *path, char *const environment[]);
long process_fork(struct process *parent, struct request *request);
long process_exec(struct process *process, const struct request *request);
void process_end(struct process *process, int status);
long process_wait(struct process *process, struct request *request);
long process_group_call(struct process *process, const struct request *request);

/* --- signals ---------------------------------------------------------------------------------- */

enum outcome { NOTHING, ENDED };

/* Send a signal. The process may no longer exist afterwards. */
enum outcome signal_send(struct process *process, int signal);
long signal_call(struct process *process, struct request *request);
long signal_take(struct process *process, const struct request *request);
long signal_action(struct process *process, const struct request *request);
void signals_after_exec(struct process *process);
extern int alarms; /* whether any process has ever set one */
void alarms_ring(void);
int signal_waits(struct process *process);
void signal_fault(struct process *process, int signal);

/* --- calls that wait (waiting.c) -------------------------------------------------------------- */

#define VFORK_WAIT 1005 /* vfork() waits until the child has executed a program */

extern int woken; /* an event has happened for which a call may wait */
extern struct process *first_waiting;

void waiting_begin(struct process *process, struct waiting waiting);
void waiting_keep(struct process *process, mach_port_t reply, struct request request);
void waiting_forget(struct process *process);
void waiting_discard(struct request *request);
void waiting_answer(const struct waiting *waiting, long value, const struct request *request);
/* Make a waiting call return EINTR. */
void waiting_interrupt(struct process *process);
void waiting_drop(struct process *process);

/* --- calls ------------------------------------------------------------------------------------ */

long call_carry_out(struct process *process, struct request *request);
long name_call(struct process *process, struct request *request);
int is_name_call(int number);
long directory_enter(struct process *process, struct fs_request *opening);

struct file *file_new(enum kind kind, int flags);
void file_hold(struct file *file);
void file_release(struct file *file);
struct file *file_of(struct process *process, int number);
/* Add a file to the process's table, at the first free number that is at least `from`. The table
 * takes over the reference.
 */
long descriptor_new(struct process *process, struct file *file, int from, int close_on_exec);
long descriptor_close(struct process *process, int number);
int file_ready(struct file *file, int events); /* poll()'s events that are true */
long file_read(struct process *process, struct file *file, struct request *request, size_t wanted);
long file_write(struct file *file, struct request *request);

long duplicate(struct process *process, int number, int from);
long duplicate_to(struct process *process, int number, int to, int close_on_exec);
long new_pipe(struct process *process, struct request *request, int flags);
long positioned(struct process *process, struct file *file, struct request *request); /* pread(), pwrite() */
long seek(struct file *file, struct request *request);
long list_directory(struct file *file, struct request *request);
long resize(struct file *file, int low, int high);
long poll_files(struct process *process, struct request *request);
long select_files(struct process *process, struct request *request);

struct pipe *pipe_new(void);
void pipe_release(struct pipe *pipe, int reading);

long socket_call(struct process *process, struct request *request);
int socket_ready(struct socket *socket, int events);
void socket_release(struct socket *socket);

long sysv_call(struct process *process, struct request *request);
void sysv_fork(struct process *parent, struct process *child);
void sysv_end(struct process *process);
void sysv_count(uint32_t *objects);
/* The length of the answer. */
size_t sysv_room(const struct request *request);

long console_read(const struct process *process, const struct file *file, struct request *request,
                  size_t wanted);
int console_ready(void);
void console_start(void);
void terminal_input(const char *bytes, size_t count);
int terminal_ready(void);
long terminal_read(const struct process *process, const struct file *file, struct request *request,
                   size_t wanted);
long terminal_control(const struct process *process, struct request *request);
mig_routine_t console_routine(const mach_msg_header_t *header);

long counters_control(struct file *file, struct request *request);
long counters_memory(struct process *process, uint32_t length, uint32_t offset);
long map_file(struct process *process, struct file *file, const struct request *request);

/* --- the server's own helpers ----------------------------------------------------------------- */

#define SERVER_STACK 0x10000u

extern mach_port_t port_set;

void console_write(const char *bytes, size_t length);
void file_side_start(int apart, const char *archive, size_t size);
/* Start a thread at `entry`, on a stack of SERVER_STACK bytes. */
kern_return_t thread_begin(mach_port_t task, mach_port_t thread, void (*entry)(void), char *stack);
/* Serve the messages of a port, for ever. */
_Noreturn void serve_port(mach_port_t port, mig_routine_t (*routine_of)(const mach_msg_header_t *));

#endif
