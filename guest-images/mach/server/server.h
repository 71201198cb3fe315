/* SPDX-License-Identifier: MIT */
/* The UNIX server: what its files share. One thread serves all processes, a message at a time. */
#ifndef P5LAB_SERVER_H
#define P5LAB_SERVER_H

#include <mach/mach_types.h>
#include <mach/message.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "unix_types.h"

#define PAGE 4096u
#define PAGES(size) (((size) + PAGE - 1) & ~(PAGE - 1))
#define OPEN_MAX_FILES 256
#define PROCESSES 128
#define NAME_MAX_BYTES 255
#define NO_TIME UINT64_MAX

/* Results of a call besides numbers and -errno. */
#define WOULD_BLOCK (-10000) /* answered later: what it waits for has not happened */
#define NO_ANSWER (-10001)   /* never: the caller's task is gone */

/* --- files ----------------------------------------------------------------------------------- */

enum kind { REGULAR, DIRECTORY, PIPE, CONSOLE, NULL_DEVICE, ZERO_DEVICE, COUNTERS };

/* A file in memory. Its bytes begin at a page, so that the kernel can map them. */
struct inode {
  enum kind kind;
  mode_t mode;
  unsigned number, references; /* names and open files; at 0 it goes */
  uint64_t size;
  size_t capacity;
  char *bytes;
  struct inode *parent, *children, *next; /* of the directory it is in; next in it */
  char *name;
  int64_t changed;
  struct pipe *pipe;
};

struct pipe {
  unsigned readers, writers;
  size_t begin, used;
  char *bytes;
};

/* An open file: what dup() and fork() share. */
struct file {
  unsigned references;
  int flags; /* of open() */
  uint64_t offset;
  struct inode *inode;
  uint32_t counters; /* what they are to count: CESR */
};

extern struct inode *root;

struct inode *inode_new(enum kind kind, mode_t mode);
void inode_hold(struct inode *inode);
void inode_release(struct inode *inode);
int inode_link(struct inode *directory, const char *name, size_t length, struct inode *inode);
void inode_unlink(struct inode *inode);
int inode_resize(struct inode *inode, uint64_t size);
/* Find what `path` names. Returns 0, or -errno; with `last` non-null the last component may be
 * missing: *found is NULL then, and *last and *directory say where it belongs.
 */
int inode_find(struct inode *from, const char *path, struct inode **found, struct inode **directory,
               const char **last, size_t *length);
void files_start(const char *archive, size_t size);

struct file *file_new(struct inode *inode, int flags);
void file_hold(struct file *file);
void file_release(struct file *file);

/* --- processes ----------------------------------------------------------------------------------- */

struct request {
  int number;
  int arguments[6];
  char *in;
  size_t in_length;
  char *out; /* where the answer goes */
  size_t out_room, out_length;
  size_t done; /* of a call that is carried out in parts */
  uint64_t deadline;
};

/* A call that waits. */
struct waiting {
  int active, bulk;
  mach_port_t reply;
  struct request request;
};

struct process {
  int pid, parent, used, zombie;
  int status; /* as wait() gives it */
  mach_port_t task, thread, port;
  struct file *files[OPEN_MAX_FILES];
  unsigned char close_on_exec[OPEN_MAX_FILES];
  struct inode *directory;
  mode_t mask;
  uint32_t ignored; /* signals */
  struct waiting waiting;
  struct process *next_waiting;
};

extern struct process processes[PROCESSES];

struct process *process_of_port(mach_port_t port);
struct process *process_of_pid(int pid);
void process_start_first(const char *path, char *const environment[]);
long process_fork(struct process *parent, int address, int stack);
long process_exec(struct process *process, const struct request *request);
void process_end(struct process *process, int status);
long process_wait(struct process *process, struct request *request);
long process_kill(struct process *process, int pid, int signal);
/* Take over program `path`; the words are arguments and environment, each with its NUL. */
long process_load(struct process *process, const char *path, const char *words, size_t length,
                  int arguments, int environment);

/* --- calls --------------------------------------------------------------------------------------- */

long call_carry_out(struct process *process, struct request *request);

long call_read(struct file *file, struct request *request);
long call_write(struct file *file, struct request *request);
int file_ready(struct file *file, int events); /* poll()'s events that are true */

long counters_control(struct file *file, struct request *request);
long counters_memory(struct process *process, uint32_t length, uint32_t offset);

/* --- the server's own means ------------------------------------------------------------------- */

extern mach_port_t host_port, device_port, port_set;
extern int woken; /* something happened for which a call may wait */

void *pages_new(size_t size);
void pages_free(void *pages, size_t size);
uint64_t now_ms(void);
int64_t now_seconds(void);
void console_write(const char *bytes, size_t length);
_Noreturn void panic(const char *what, int status);

#endif
