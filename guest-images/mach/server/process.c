// SPDX-License-Identifier: MIT
/* Processes. Each process is a task with one thread. fork() copies the task, and exec() makes a new
 * task.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/auxvec.h>
#include <mach/vm_prot.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "mach_calls.h"
#include "mach_i386_calls.h"
#include "mach_port_calls.h"
#include "server.h"
#include "traps.h"

#define STACK_TOP 0xBF000000u
#define STACK_SIZE 0x100000u
#define ARGUMENTS_MAX 0x10000u
#define INTERPRETER_BASE 0x40000000u /* address of a dynamic loader, which runs anywhere */
#define PORTS 4096                   /* upper bound of port names, which are small numbers */

struct process processes[PROCESSES];
static struct process *by_port[PORTS];
static int last_pid;

void waiting_drop(struct process *process);

/* Returns NULL for a process that has ended. A message from this process may still arrive. */
struct process *process_of_port(mach_port_t port) {
  struct process *process = port < PORTS ? by_port[port] : NULL;
  return process && !process->zombie ? process : NULL;
}

struct process *process_of_pid(int pid) {
  for (int i = 0; i < PROCESSES; i++)
    if (processes[i].used && processes[i].pid == pid) return &processes[i];
  return NULL;
}

/* Make a process that has no task yet. */
static struct process *process_new(void) {
  struct process *process = NULL;
  for (int i = 0; i < PROCESSES && !process; i++)
    if (!processes[i].used) process = &processes[i];
  if (!process) return NULL;
  memset(process, 0, sizeof(*process));
  mach_port_t self = mach_task_self();
  if (mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &process->port)) return NULL;
  if (process->port >= PORTS || mach_port_move_member(self, process->port, port_set)) {
    mach_port_mod_refs(self, process->port, MACH_PORT_RIGHT_RECEIVE, -1);
    return NULL;
  }
  process->used = 1;
  process->pid = process->group = process->session = ++last_pid;
  process->mask = 022;
  process->alarm = NO_TIME;
  by_port[process->port] = process;
  return process;
}

static void process_free(struct process *process) {
  by_port[process->port] = NULL;
  mach_port_mod_refs(mach_task_self(), process->port, MACH_PORT_RIGHT_RECEIVE, -1);
  process->used = 0;
}

/* Give a task the ports of a process under their fixed names, and receive the task's exceptions. */
static int task_equip(struct process *process, mach_port_t task) {
  kern_return_t status = mach_port_insert_right(task, UNIX_PROCESS_PORT, process->port,
                                                MACH_MSG_TYPE_MAKE_SEND);
  if (!status) status = mach_port_allocate_name(task, MACH_PORT_RIGHT_RECEIVE, UNIX_REPLY_PORT);
  mach_port_t self = mach_task_self();
  if (!status) status = mach_port_insert_right(self, process->port, process->port,
                                               MACH_MSG_TYPE_MAKE_SEND);
  if (!status) status = task_set_special_port(task, TASK_EXCEPTION_PORT, process->port);
  mach_port_mod_refs(self, process->port, MACH_PORT_RIGHT_SEND, -1);
  return status;
}

/* Take a second reference to a directory. */
static int node_again(int node) {
  if (!node) return 0;
  return fs_call(&(struct fs_request){.operation = FS_HOLD, .node = node}) ? 0 : node;
}

static void node_leave(int node) {
  if (node) fs_call(&(struct fs_request){.operation = FS_RELEASE, .node = node});
}

static void task_end(mach_port_t task, mach_port_t thread) {
  mach_port_t self = mach_task_self();
  if (thread) mach_port_deallocate(self, thread);
  if (!task) return;
  task_terminate(task);
  mach_port_deallocate(self, task);
}

long process_fork(struct process *parent, struct request *request) {
  int address = request->arguments[0], stack = request->arguments[1];
  struct i386_thread_state state;
  mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
  if (thread_get_state(parent->thread, i386_REGS_SEGS_STATE, (thread_state_t)&state, &count))
    return -EAGAIN;
  struct process *child = process_new();
  if (!child) return -EAGAIN;
  int status = task_create(parent->task, 1, &child->task);
  if (!status) status = task_equip(child, child->task);
  if (!status) status = thread_create(child->task, &child->thread);
  if (!status && state.gs & ~3u) { /* the thread pointer: each thread has its own descriptor */
    struct descriptor descriptor;
    int selector = -1;
    if (!i386_get_gdt(parent->thread, (int)state.gs, &descriptor) &&
        !(status = i386_set_gdt(child->thread, &selector, descriptor)))
      state.gs = (unsigned)selector;
  }
  state.eip = (unsigned)address;
  state.uesp = (unsigned)stack;
  state.eax = 0;
  state.ebx = state.ecx = state.edx = state.esi = state.edi = state.ebp = 0;
  if (!status)
    status = thread_set_state(child->thread, i386_REGS_SEGS_STATE, (thread_state_t)&state, count);
  if (status) {
    task_end(child->task, child->thread);
    process_free(child);
    return -EAGAIN;
  }
  child->parent = parent->pid;
  child->group = parent->group;
  child->session = parent->session;
  child->mask = parent->mask;
  child->ignored = parent->ignored;
  child->caught = parent->caught;
  child->signals = parent->signals;
  child->entry = parent->entry;
  sysv_fork(parent, child);
  for (int i = 0; i < OPEN_MAX_FILES; i++)
    if ((child->files[i] = parent->files[i])) {
      child->close_on_exec[i] = parent->close_on_exec[i];
      file_hold(child->files[i]);
    }
  child->directory = node_again(parent->directory);
  thread_resume(child->thread);
  return child->pid;
}

/* --- exec ------------------------------------------------------------------------------------ */

/* Map a segment of a program. Whole pages are the file's own pages, copied on write. */
static int load_segment(mach_port_t task, const struct image *file, const Elf32_Phdr *segment,
                        uint32_t base) {
  uint32_t begin = (base + segment->p_vaddr) & ~(PAGE - 1), skew = segment->p_vaddr % PAGE;
  uint32_t in_file = skew + segment->p_filesz, in_memory = PAGES(skew + segment->p_memsz);
  vm_offset_t address = begin;
  char *source = file->bytes + (segment->p_offset - skew);
  if (segment->p_offset % PAGE != skew) return KERN_INVALID_ARGUMENT;
  if (!in_memory) return KERN_SUCCESS;
  if (vm_allocate(task, &address, in_memory, 0)) return KERN_NO_SPACE;
  uint32_t whole = segment->p_memsz > segment->p_filesz ? in_file & ~(PAGE - 1) : PAGES(in_file);
  int status = whole ? vm_write(task, begin, (vm_offset_t)source, whole) : 0;
  if (!status && whole < in_file) { /* the bytes after the file's must be zero */
    char *last = pages_new(PAGE);
    if (!last) return KERN_RESOURCE_SHORTAGE;
    memcpy(last, source + whole, in_file - whole);
    status = vm_write(task, begin + whole, (vm_offset_t)last, PAGE);
    pages_free(last, PAGE);
  }
  if (!status && !(segment->p_flags & PF_W))
    status = vm_protect(task, begin, in_memory, 0, VM_PROT_READ | VM_PROT_EXECUTE);
  return status;
}

/* Check an ELF file. Returns its header or NULL. */
static const Elf32_Ehdr *program(const struct image *file) {
  const Elf32_Ehdr *header = (const Elf32_Ehdr *)file->bytes;
  if (file->size < sizeof(*header)) return NULL;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS32 ||
      header->e_machine != EM_386 || (header->e_type != ET_EXEC && header->e_type != ET_DYN))
    return NULL;
  if (header->e_phentsize != sizeof(Elf32_Phdr) || header->e_phoff > file->size ||
      header->e_phoff + (uint64_t)header->e_phnum * sizeof(Elf32_Phdr) > file->size)
    return NULL;
  const Elf32_Phdr *segments = (const Elf32_Phdr *)(file->bytes + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++)
    if ((uint64_t)segments[i].p_offset + segments[i].p_filesz > file->size ||
        segments[i].p_filesz > segments[i].p_memsz ||
        (segments[i].p_type == PT_LOAD && segments[i].p_vaddr >= STACK_TOP - STACK_SIZE))
      return NULL;
  return header;
}

static int load_program(mach_port_t task, const struct image *file, uint32_t base) {
  const Elf32_Ehdr *header = (const Elf32_Ehdr *)file->bytes;
  const Elf32_Phdr *segments = (const Elf32_Phdr *)(file->bytes + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && load_segment(task, file, &segments[i], base)) return -1;
  return 0;
}

/* The stack of a new program (System V ABI i386): count, arguments, environment and auxiliary
 * vector. The arguments and the environment are pointers to strings below the top of the stack.
 * Returns the stack pointer, or 0 on failure.
 */
static uint32_t make_stack(mach_port_t task, const char *words, size_t length, int arguments,
                           int environment, const uint32_t *auxiliary, size_t auxiliary_words) {
  size_t pointers = (size_t)(1 + arguments + 1 + environment + 1) + auxiliary_words;
  size_t needed = pointers * 4 + length + 64, size = PAGES(needed);
  vm_offset_t stack = STACK_TOP - STACK_SIZE;
  char *image = pages_new(size);
  if (!image || vm_allocate(task, &stack, STACK_SIZE, 0)) {
    pages_free(image, size);
    return 0;
  }
  uint32_t bottom = STACK_TOP - (uint32_t)size;
  char *text = image + size - length - 16;
  memcpy(text, words, length);
  uint32_t *word = (uint32_t *)(((uintptr_t)text - pointers * 4) & ~(uintptr_t)15), *first = word;
  const char *at = text;
  *word++ = (uint32_t)arguments;
  for (int list = 0; list < 2; list++) {
    for (int i = 0; i < (list ? environment : arguments); i++) {
      *word++ = bottom + (uint32_t)(at - image);
      at += strlen(at) + 1;
    }
    *word++ = 0;
  }
  memcpy(word, auxiliary, auxiliary_words * 4);
  int status = vm_write(task, bottom, (vm_offset_t)image, size);
  uint32_t pointer = bottom + (uint32_t)((char *)first - image);
  pages_free(image, size);
  return status ? 0 : pointer;
}

/* The files of a program and of the interpreter that it names. */
struct programs {
  int node, loader_node;
  struct image file, loader; /* loader.bytes is NULL if there is no loader */
};

static void programs_leave(struct programs *programs) {
  fs_image_free(&programs->file);
  fs_image_free(&programs->loader);
  node_leave(programs->node);
  node_leave(programs->loader_node);
}

/* Open an executable file and check it. */
static long program_open(int from, const char *path, int *node, struct image *image) {
  struct fs_request r = {.operation = FS_OPEN, .node = from, .a = FS_EXECUTE, .in = path,
                         .in_length = strlen(path) + 1};
  long kind = fs_call(&r);
  if (kind < 0) return kind;
  *node = r.more;
  long error = fs_image(*node, 0, (uint32_t)FILE_MAX, image);
  if (error) return error;
  return program(image) ? 0 : -ENOEXEC;
}

static long programs_open(int from, const char *path, struct programs *programs) {
  *programs = (struct programs){0};
  long error = program_open(from, path, &programs->node, &programs->file);
  if (error) return error;
  const struct image *file = &programs->file;
  const Elf32_Ehdr *header = (const Elf32_Ehdr *)file->bytes;
  const Elf32_Phdr *segments = (const Elf32_Phdr *)(file->bytes + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type != PT_INTERP) continue;
    const char *name = file->bytes + segments[i].p_offset;
    if (!memchr(name, 0, segments[i].p_filesz)) return -ENOEXEC;
    error = program_open(0, name, &programs->loader_node, &programs->loader);
    return error == -ENOEXEC ? -ELIBBAD : error;
  }
  return 0;
}

/* Make this the process's task. */
static void take_over(struct process *process, mach_port_t task, mach_port_t thread) {
  task_end(process->task, process->thread);
  process->task = task;
  process->thread = thread;
  sysv_end(process);
  signals_after_exec(process);
  if (process->vfork_of) process->vfork_of = 0, woken = 1;
  for (int i = 0; i < OPEN_MAX_FILES; i++)
    if (process->files[i] && process->close_on_exec[i]) descriptor_close(process, i);
}

static long load(struct process *process, const struct programs *programs, const char *words,
                 size_t length, int arguments, int environment) {
  const struct image *file = &programs->file, *loader = &programs->loader;
  const Elf32_Ehdr *header = (const Elf32_Ehdr *)file->bytes;
  mach_port_t task = MACH_PORT_NULL, thread = MACH_PORT_NULL;
  uint32_t base = header->e_type == ET_DYN ? 0x10000000u : 0, loader_base = 0;
  uint32_t entry = base + header->e_entry, stack = 0;
  if (loader->bytes) {
    const Elf32_Ehdr *own = (const Elf32_Ehdr *)loader->bytes;
    loader_base = own->e_type == ET_DYN ? INTERPRETER_BASE : 0;
    entry = loader_base + own->e_entry;
  }
  const Elf32_Phdr *segments = (const Elf32_Phdr *)(file->bytes + header->e_phoff);
  uint32_t headers = 0;
  for (int i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && segments[i].p_offset <= header->e_phoff &&
        header->e_phoff < segments[i].p_offset + segments[i].p_filesz)
      headers = base + segments[i].p_vaddr + header->e_phoff - segments[i].p_offset;
  const uint32_t auxiliary[] = {AT_PHDR, headers, AT_PHENT, sizeof(Elf32_Phdr), AT_PHNUM,
                                header->e_phnum, AT_PAGESZ, PAGE, AT_BASE, loader_base, AT_ENTRY,
                                base + header->e_entry, AT_UID, 0, AT_EUID, 0, AT_GID, 0, AT_EGID,
                                0, AT_SECURE, 0, AT_NULL, 0};
  int status = task_create(mach_task_self(), 0, &task);
  if (!status) status = task_equip(process, task);
  if (!status) status = load_program(task, file, base);
  if (!status && loader->bytes) status = load_program(task, loader, loader_base);
  if (!status)
    stack = make_stack(task, words, length, arguments, environment, auxiliary,
                       sizeof(auxiliary) / 4);
  if (!status && stack) status = thread_create(task, &thread);
  struct i386_thread_state state = {.eip = entry, .uesp = stack};
  if (!status && stack)
    status = thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
                              i386_THREAD_STATE_COUNT);
  if (status || !stack) {
    task_end(task, thread);
    return -ENOMEM;
  }
  take_over(process, task, thread);
  thread_resume(thread);
  return NO_ANSWER;
}

/* Execute the program `path`. `words` has the arguments and the environment, each with its NUL. */
static long process_load(struct process *process, const char *path, const char *words,
                         size_t length, int arguments, int environment) {
  struct programs programs;
  if (length > ARGUMENTS_MAX) return -E2BIG;
  long result = programs_open(process->directory, path, &programs);
  if (!result) result = load(process, &programs, words, length, arguments, environment);
  programs_leave(&programs);
  return result;
}

long process_exec(struct process *process, const struct request *request) {
  const char *path = request->in;
  size_t length = strnlen(path, request->in_length) + 1;
  if (length > request->in_length || request->in[request->in_length - 1]) return -EINVAL;
  int count = 0;
  for (size_t i = length; i < request->in_length; i++) count += !request->in[i];
  if (request->arguments[0] < 0 || request->arguments[1] < 0 ||
      count != request->arguments[0] + request->arguments[1])
    return -EINVAL;
  return process_load(process, path, path + length, request->in_length - length,
                      request->arguments[0], request->arguments[1]);
}

void process_start_first(const char *path, char *const environment[]) {
  char words[128];
  int variables = 0;
  size_t length = (size_t)snprintf(words, sizeof(words), "%s", path) + 1;
  for (; environment[variables]; variables++)
    length += (size_t)snprintf(words + length, sizeof(words) - length, "%s",
                               environment[variables]) + 1;
  struct process *first = process_new();
  if (!first) panic("init", 0);
  for (int i = 0; i < 3; i++) {
    first->files[i] = i ? first->files[0] : file_new(CONSOLE, O_RDWR);
    if (i) file_hold(first->files[0]);
  }
  long status = process_load(first, path, words, length, 1, variables);
  if (status != NO_ANSWER) panic(path, (int)-status);
}

/* --- end and wait ---------------------------------------------------------------------------- */

static int reaps_itself(const struct process *parent) {
  return parent && parent->ignored & 1u << (SIGCHLD - 1);
}

void process_end(struct process *process, int status) {
  if (process->pid == 1) panic("init ended", status);
  /* End the task first. Otherwise its thread would be notified of a dropped answer, and would
   * continue.
   */
  task_end(process->task, process->thread);
  process->task = process->thread = MACH_PORT_NULL;
  waiting_drop(process);
  for (int i = 0; i < OPEN_MAX_FILES; i++)
    if (process->files[i]) descriptor_close(process, i);
  sysv_end(process);
  node_leave(process->directory);
  process->directory = process->vfork_of = 0;
  process->zombie = 1;
  process->status = status;
  for (int i = 0; i < PROCESSES; i++) {
    struct process *child = &processes[i];
    if (!child->used || child->parent != process->pid) continue;
    child->parent = 1;
    child->orphan = 1; /* init does not wait for it */
    if (child->zombie) process_free(child);
  }
  struct process *parent = process_of_pid(process->parent);
  woken = 1;
  if (process->orphan || reaps_itself(parent)) process_free(process);
  else if (parent) signal_send(parent, SIGCHLD);
}

/* Whether a wait() for `wanted` includes this child. */
static int is_wanted(const struct process *child, int wanted, int group) {
  if (wanted > 0) return child->pid == wanted;
  return wanted == -1 || child->group == (wanted ? -wanted : group);
}

long process_wait(struct process *process, struct request *request) {
  int wanted = request->arguments[0], options = request->arguments[2], children = 0;
  for (int i = 0; i < PROCESSES; i++) {
    struct process *child = &processes[i];
    if (!child->used || child->parent != process->pid) continue;
    if (!is_wanted(child, wanted, process->group)) continue;
    children++;
    int stopped = options & WUNTRACED && child->stopped && !child->reported;
    if (!child->zombie && !stopped) continue;
    int status = child->zombie ? child->status : child->stopped << 8 | 0x7F;
    memcpy(request->out, &status, sizeof(int));
    request->out_length = sizeof(int);
    int pid = child->pid;
    child->reported = 1;
    if (child->zombie) process_free(child);
    return pid;
  }
  if (!children) return -ECHILD;
  return options & WNOHANG ? 0 : WOULD_BLOCK;
}

/* --- groups and sessions --------------------------------------------------------------------- */

static int group_is_of(int group, int session) {
  for (int i = 0; i < PROCESSES; i++)
    if (processes[i].used && processes[i].group == group && processes[i].session == session) return 1;
  return 0;
}

static long set_group(struct process *process, int pid, int group) {
  struct process *other = pid ? process_of_pid(pid) : process;
  if (group < 0) return -EINVAL;
  if (!other || (other != process && other->parent != process->pid)) return -ESRCH;
  if (other->session != process->session || other->session == other->pid) return -EPERM;
  if (!group) group = other->pid;
  if (group != other->pid && !group_is_of(group, process->session)) return -EPERM;
  other->group = group;
  return 0;
}

long process_group_call(struct process *process, const struct request *request) {
  const int *a = request->arguments;
  const struct process *other = a[0] ? process_of_pid(a[0]) : process;
  switch (request->number) {
    case SYS_getpgrp: return process->group;
    case SYS_getpgid: return other ? other->group : -ESRCH;
    case SYS_getsid: return other ? other->session : -ESRCH;
    case SYS_setpgid: return set_group(process, a[0], a[1]);
    default: /* setsid */
      for (int i = 0; i < PROCESSES; i++)
        if (processes[i].used && processes[i].group == process->pid) return -EPERM;
      return process->session = process->group = process->pid;
  }
}
