// SPDX-License-Identifier: MIT
/* System calls: the dispatcher, and the short calls. Numbers, flags and structures are the same as
 * in Linux/i386.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/utsname.h>

#include "mach_calls.h"
#include "server.h"
#include "traps.h"

static long control(struct process *process, struct file *file, const struct request *request) {
  int number = request->arguments[0], argument = request->arguments[2];
  switch (request->arguments[1]) {
    case F_DUPFD: return duplicate(process, number, argument);
    case F_DUPFD_CLOEXEC: {
      long copy = duplicate(process, number, argument);
      if (copy >= 0) process->close_on_exec[copy] = 1;
      return copy;
    }
    case F_GETFD: return process->close_on_exec[number] ? FD_CLOEXEC : 0;
    case F_SETFD: process->close_on_exec[number] = argument & FD_CLOEXEC; return 0;
    case F_GETFL: return file->flags & ~(O_CREAT | O_EXCL | O_TRUNC | O_CLOEXEC);
    case F_SETFL:
      file->flags = (file->flags & ~(O_APPEND | O_NONBLOCK)) | (argument & (O_APPEND | O_NONBLOCK));
      return 0;
    default: return -EINVAL;
  }
}

static long device_control(struct process *process, struct file *file, struct request *request) {
  if (file->kind == COUNTERS) return counters_control(file, request);
  return file->kind == CONSOLE ? terminal_control(process, request) : -ENOTTY;
}

static long change_directory(struct process *process, struct file *file) {
  if (file->kind != DIRECTORY) return -ENOTDIR;
  struct fs_request r = {.operation = FS_OPEN, .node = file->node, .a = O_RDONLY, .in = ".",
                         .in_length = 2};
  return directory_enter(process, &r);
}

static long file_call(struct process *process, struct request *request) {
  const int *a = request->arguments;
  struct file *file = file_of(process, request->number == SYS_mmap2 ? a[4] : a[0]);
  if (!file) return -EBADF;
  switch (request->number) {
    case SYS_read: return file_read(process, file, request, (size_t)a[2]);
    case SYS_write: {
      long result = file_write(file, request);
      if (result == -EPIPE && signal_send(process, SIGPIPE) == ENDED) return NO_ANSWER;
      return result;
    }
    case SYS_pread64:
    case SYS_pwrite64: return positioned(process, file, request);
    case SYS__llseek: return seek(file, request);
    case SYS_getdents64: return list_directory(file, request);
    case SYS_fcntl64: return control(process, file, request);
    case SYS_fchdir: return change_directory(process, file);
    case SYS_fchmod:
      if (!file->node) return -EINVAL;
      return fs_call(&(struct fs_request){.operation = FS_CHMOD, .node = file->node, .a = a[1],
                                          .in = "", .in_length = 1});
    case SYS_ftruncate64: return resize(file, a[1], a[2]);
    case SYS_mmap2: return map_file(process, file, request);
    case SYS_ioctl: return device_control(process, file, request);
    default: /* fsync, fdatasync */
      if (file->kind != REGULAR && file->kind != DIRECTORY) return -EINVAL;
      return fs_call(&(struct fs_request){.operation = FS_FLUSH, .node = file->node});
  }
}

/* --- memory from files ----------------------------------------------------------------------- */

/* The caller has already allocated the memory (libc/syscall.c). Returns 0, an error, or the address
 * of the mapping if the mapping is at another address than requested.
 */
long map_file(struct process *process, struct file *file, const struct request *request) {
  vm_offset_t address = (vm_offset_t)request->arguments[0];
  uint32_t length = (uint32_t)request->arguments[1];
  int protection = request->arguments[2], flags = request->arguments[3];
  uint64_t offset = (uint64_t)(uint32_t)request->arguments[5] * PAGE;
  if (file->kind == ZERO_DEVICE) return 0;
  if (file->kind == COUNTERS)
    return counters_memory(process, length, (uint32_t)request->arguments[5]);
  if (file->kind != REGULAR) return -ENODEV;
  int access = file->flags & O_ACCMODE;
  if (access == O_WRONLY) return -EACCES;
  if (offset + length > FILE_MAX) return -EOVERFLOW;
  if (flags & MAP_SHARED && protection & PROT_WRITE) {
    if (access != O_RDWR) return -EACCES;
    return fs_share(file->node, process->task, address, length, (uint32_t)offset, protection & 7);
  }
  struct image image;
  long error = fs_image(file->node, (uint32_t)offset, length, &image);
  if (error || !image.size) return error;
  int status = vm_write(process->task, address, (vm_offset_t)image.bytes, PAGES(image.size));
  fs_image_free(&image);
  return status ? -ENOMEM : 0;
}

/* --- dispatching a call ----------------------------------------------------------------------- */

static long system_name(struct request *request) {
  struct utsname *name = (struct utsname *)request->out;
  memset(name, 0, sizeof(*name));
  strcpy(name->sysname, "p5lab");
  strcpy(name->nodename, "mach");
  strcpy(name->release, "1");
  strcpy(name->version, "UNIX server on GNU Mach");
  strcpy(name->machine, "i586");
  request->out_length = sizeof(*name);
  return 0;
}

static long debug(struct request *request) {
  struct unix_debug *out = (struct unix_debug *)request->out;
  struct fs_debug files;
  struct fs_request r = {.operation = FS_DEBUG, .out = (char *)&files, .out_room = sizeof(files)};
  memset(out, 0, sizeof(*out));
  if (fs_call(&r) < 0) return -EIO;
  for (int i = 0; i < PROCESSES; i++) {
    out->processes += processes[i].used != 0;
    for (int j = 0; processes[i].used && j < OPEN_MAX_FILES; j++)
      out->files += processes[i].files[j] != NULL;
  }
  sysv_count(&out->sysv);
  out->free_pages = (unsigned)(memory_left() / PAGE);
  out->ports = ports_held();
  out->bytes = bytes_held();
  out->file_nodes = files.nodes;
  out->file_ports = files.ports;
  out->file_bytes = files.bytes;
  request->out_length = sizeof(*out);
  return 0;
}

static long sleep_for(struct request *request) {
  uint64_t now = now_ms();
  if (request->deadline == NO_TIME) request->deadline = now + (unsigned)request->arguments[0];
  else if (now >= request->deadline) return 0;
  return request->arguments[0] == 0 ? 0 : WOULD_BLOCK;
}

long call_carry_out(struct process *process, struct request *request) {
  const int *a = request->arguments;
  switch (request->number) {
    case SYS_read:
    case SYS_write:
    case SYS_pread64:
    case SYS_pwrite64:
    case SYS__llseek:
    case SYS_getdents64:
    case SYS_fcntl64:
    case SYS_fchdir:
    case SYS_fchmod:
    case SYS_ftruncate64:
    case SYS_mmap2:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ioctl: return file_call(process, request);
    case SYS_close: return descriptor_close(process, a[0]);
    case SYS_dup: return duplicate(process, a[0], 0);
    case SYS_dup2: return duplicate_to(process, a[0], a[1], 0);
    case SYS_dup3:
      return a[0] == a[1] ? -EINVAL : duplicate_to(process, a[0], a[1], (a[2] & O_CLOEXEC) != 0);
    case SYS_pipe: return new_pipe(process, request, 0);
    case SYS_pipe2: return new_pipe(process, request, a[1]);
    case SYS_poll: return poll_files(process, request);
    case SYS__newselect: return select_files(process, request);
    case SYS_umask: {
      mode_t before = process->mask;
      process->mask = (mode_t)a[0] & 0777;
      return (long)before;
    }
    case SYS_getpid:
    case SYS_gettid:
    case SYS_set_tid_address: return process->pid;
    case SYS_getppid: return process->parent;
    case SYS_getuid32:
    case SYS_geteuid32:
    case SYS_getgid32:
    case SYS_getegid32: return 0;
    case SYS_uname: return system_name(request);
    case SYS_fork:
    case SYS_vfork: return process_fork(process, request);
    case SYS_execve: return process_exec(process, request);
    case SYS_wait4: return process_wait(process, request);
    case SYS_exit:
    case SYS_exit_group: process_end(process, (a[0] & 0xFF) << 8); return NO_ANSWER;
    case SYS_setpgid:
    case SYS_getpgid:
    case SYS_getpgrp:
    case SYS_setsid:
    case SYS_getsid: return process_group_call(process, request);
    case SYS_kill:
    case SYS_tkill:
    case SYS_pause:
    case SYS_rt_sigpending:
    case SYS_setitimer:
    case SYS_getitimer: return signal_call(process, request);
    case SYS_rt_sigaction: return signal_action(process, request);
    case UNIX_SIGNALS:
      process->signals = (vm_offset_t)a[0];
      process->entry = (vm_offset_t)a[1];
      return 0;
    case UNIX_TAKE: return signal_take(process, request);
    case UNIX_SLEEP: return sleep_for(request);
    case UNIX_DEBUG: return debug(request);
    case SYS_ipc: return sysv_call(process, request);
    case SYS_socket:
    case SYS_socketpair:
    case SYS_bind:
    case SYS_listen:
    case SYS_accept4:
    case SYS_connect:
    case SYS_shutdown:
    case SYS_getsockname:
    case SYS_getpeername:
    case SYS_getsockopt:
    case SYS_setsockopt:
    case SYS_sendto:
    case SYS_recvfrom: return socket_call(process, request);
    default: return is_name_call(request->number) ? name_call(process, request) : -ENOSYS;
  }
}
