// SPDX-License-Identifier: MIT
/* Processes: each is a task with one thread. fork() copies the task, exec() takes a new one. */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/auxvec.h>
#include <mach/vm_prot.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
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
#define INTERPRETER_BASE 0x40000000u /* of a dynamic loader, which runs anywhere */
#define PORTS 4096                   /* names of ports are small numbers */

struct process processes[PROCESSES];
static struct process *by_port[PORTS];
static int last_pid;

void waiting_drop(struct process *process);

struct process *process_of_port(mach_port_t port) { return port < PORTS ? by_port[port] : NULL; }

struct process *process_of_pid(int pid) {
  for (int i = 0; i < PROCESSES; i++)
    if (processes[i].used && processes[i].pid == pid) return &processes[i];
  return NULL;
}

/* A process without a task yet. */
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
  process->pid = ++last_pid;
  process->mask = 022;
  by_port[process->port] = process;
  return process;
}

static void process_free(struct process *process) {
  by_port[process->port] = NULL;
  mach_port_mod_refs(mach_task_self(), process->port, MACH_PORT_RIGHT_RECEIVE, -1);
  process->used = 0;
}

/* Give a task what every task of a process has: its ports under their names, and an ear for its
 * exceptions.
 */
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

static void task_end(mach_port_t task, mach_port_t thread) {
  mach_port_t self = mach_task_self();
  if (thread) mach_port_deallocate(self, thread);
  if (!task) return;
  task_terminate(task);
  mach_port_deallocate(self, task);
}

long process_fork(struct process *parent, int address, int stack) {
  struct i386_thread_state state;
  mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
  if (thread_get_state(parent->thread, i386_REGS_SEGS_STATE, (thread_state_t)&state, &count))
    return -EAGAIN;
  struct process *child = process_new();
  if (!child) return -EAGAIN;
  int status = task_create(parent->task, 1, &child->task);
  if (!status) status = task_equip(child, child->task);
  if (!status) status = thread_create(child->task, &child->thread);
  if (!status && state.gs & ~3u) { /* the thread pointer: its descriptor is the thread's own */
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
  child->mask = parent->mask;
  child->ignored = parent->ignored;
  for (int i = 0; i < OPEN_MAX_FILES; i++)
    if ((child->files[i] = parent->files[i])) {
      child->close_on_exec[i] = parent->close_on_exec[i];
      file_hold(child->files[i]);
    }
  child->directory = parent->directory;
  inode_hold(child->directory);
  thread_resume(child->thread);
  return child->pid;
}

/* --- exec ------------------------------------------------------------------------------------ */

/* Put a segment of a program in place. Whole pages are the file's own, copied on write. */
static int load_segment(mach_port_t task, const struct inode *file, const Elf32_Phdr *segment,
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
  if (!status && whole < in_file) { /* what is behind the file's bytes must be zero */
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

/* Check an ELF file; returns its header or NULL. */
static const Elf32_Ehdr *program(const struct inode *file) {
  const Elf32_Ehdr *header = (const Elf32_Ehdr *)file->bytes;
  if (file->kind != REGULAR || file->size < sizeof(*header)) return NULL;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) || header->e_ident[EI_CLASS] != ELFCLASS32 ||
      header->e_machine != EM_386 || (header->e_type != ET_EXEC && header->e_type != ET_DYN))
    return NULL;
  if (header->e_phentsize != sizeof(Elf32_Phdr) ||
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

static int load_program(mach_port_t task, const struct inode *file, uint32_t base) {
  const Elf32_Ehdr *header = (const Elf32_Ehdr *)file->bytes;
  const Elf32_Phdr *segments = (const Elf32_Phdr *)(file->bytes + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++)
    if (segments[i].p_type == PT_LOAD && load_segment(task, file, &segments[i], base)) return -1;
  return 0;
}

/* The stack of a new program (System V ABI i386): count, arguments, environment, auxiliary vector,
 * and below the top the words that these point to. Returns the stack pointer, 0 when it fails.
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

/* The interpreter that a program names; NULL and *error 0 when it names none. */
static struct inode *interpreter(const struct inode *file, int *error) {
  const Elf32_Ehdr *header = (const Elf32_Ehdr *)file->bytes;
  const Elf32_Phdr *segments = (const Elf32_Phdr *)(file->bytes + header->e_phoff);
  *error = 0;
  for (int i = 0; i < header->e_phnum; i++) {
    if (segments[i].p_type != PT_INTERP) continue;
    const char *path = file->bytes + segments[i].p_offset;
    struct inode *found = NULL;
    if (!memchr(path, 0, segments[i].p_filesz)) *error = -ENOEXEC;
    else *error = inode_find(root, path, &found, NULL, NULL, NULL);
    if (!*error && !program(found)) *error = -ELIBBAD;
    return *error ? NULL : found;
  }
  return NULL;
}

long process_load(struct process *process, const char *path, const char *words, size_t length,
                  int arguments, int environment) {
  struct inode *file, *loader;
  int error = inode_find(process->directory, path, &file, NULL, NULL, NULL);
  if (error) return error;
  if (file->kind != REGULAR || !(file->mode & 0111)) return -EACCES;
  const Elf32_Ehdr *header = program(file);
  if (!header) return -ENOEXEC;
  loader = interpreter(file, &error);
  if (error) return error;
  if (length > ARGUMENTS_MAX) return -E2BIG;

  mach_port_t task = MACH_PORT_NULL, thread = MACH_PORT_NULL;
  uint32_t base = header->e_type == ET_DYN ? 0x10000000u : 0, loader_base = 0;
  uint32_t entry = base + header->e_entry, stack = 0;
  if (loader) {
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
  if (!status && loader) status = load_program(task, loader, loader_base);
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
  task_end(process->task, process->thread);
  process->task = task;
  process->thread = thread;
  for (int i = 0; i < OPEN_MAX_FILES; i++)
    if (process->files[i] && process->close_on_exec[i]) {
      file_release(process->files[i]);
      process->files[i] = NULL;
      process->close_on_exec[i] = 0;
    }
  thread_resume(thread);
  return NO_ANSWER;
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
  struct inode *console;
  if (!first || inode_find(root, "/dev/console", &console, NULL, NULL, NULL)) panic("init", 0);
  first->directory = root;
  inode_hold(root);
  for (int i = 0; i < 3; i++) {
    first->files[i] = i ? first->files[0] : file_new(console, O_RDWR);
    if (i) file_hold(first->files[0]);
  }
  long status = process_load(first, path, words, length, 1, variables);
  if (status != NO_ANSWER) panic(path, (int)-status);
}

/* --- end and wait ---------------------------------------------------------------------------- */

void process_end(struct process *process, int status) {
  if (process->pid == 1) panic("init ended", status);
  waiting_drop(process);
  task_end(process->task, process->thread);
  process->task = process->thread = MACH_PORT_NULL;
  for (int i = 0; i < OPEN_MAX_FILES; i++)
    if (process->files[i]) {
      file_release(process->files[i]);
      process->files[i] = NULL;
    }
  inode_release(process->directory);
  process->directory = NULL;
  process->zombie = 1;
  process->status = status;
  for (int i = 0; i < PROCESSES; i++) {
    if (!processes[i].used || processes[i].parent != process->pid) continue;
    if (processes[i].zombie) process_free(&processes[i]);
    else processes[i].parent = 1;
  }
  woken = 1;
}

long process_wait(struct process *process, struct request *request) {
  int wanted = request->arguments[0], options = request->arguments[2], children = 0;
  for (int i = 0; i < PROCESSES; i++) {
    struct process *child = &processes[i];
    if (!child->used || child->parent != process->pid) continue;
    if (wanted > 0 && child->pid != wanted) continue;
    children++;
    if (!child->zombie) continue;
    memcpy(request->out, &child->status, sizeof(int));
    request->out_length = sizeof(int);
    int pid = child->pid;
    process_free(child);
    return pid;
  }
  if (!children) return -ECHILD;
  return options & WNOHANG ? 0 : WOULD_BLOCK;
}

/* Signals end processes, or do nothing; there are no handlers. */
static void deliver(struct process *process, int signal) {
  if (process->zombie || process->pid == 1) return;
  if (signal != SIGKILL && process->ignored & 1u << (signal - 1)) return;
  if (signal == SIGCHLD || signal == SIGURG || signal == SIGWINCH || signal == SIGCONT) return;
  process_end(process, signal);
}

long process_kill(struct process *process, int pid, int signal) {
  if (signal < 0 || signal > 31) return -EINVAL;
  if (pid <= 0) return -ENOSYS; /* no process groups */
  struct process *target = process_of_pid(pid);
  if (!target) return -ESRCH;
  if (signal) deliver(target, signal);
  return process->used && !process->zombie ? 0 : NO_ANSWER;
}
