// SPDX-License-Identifier: MIT
/* System calls: descriptors, pipes, names. Numbers, flags and structures are those of Linux/i386. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/wait.h>

#include "server.h"

#define PIPE_SIZE 65536u
#define MIN(a, b) ((a) < (b) ? (a) : (b))

/* --- open files ---------------------------------------------------------------------------------- */

struct file *file_new(struct inode *inode, int flags) {
  struct file *file = calloc(1, sizeof(*file));
  if (!file) return NULL;
  file->references = 1;
  file->flags = flags;
  file->inode = inode;
  inode_hold(inode);
  if (inode->kind == PIPE) {
    if ((flags & O_ACCMODE) == O_RDONLY) inode->pipe->readers++;
    else inode->pipe->writers++;
  }
  return file;
}

void file_hold(struct file *file) { file->references++; }

void file_release(struct file *file) {
  if (--file->references) return;
  struct pipe *pipe = file->inode->pipe;
  if (pipe) {
    if ((file->flags & O_ACCMODE) == O_RDONLY) pipe->readers--;
    else pipe->writers--;
    woken = 1;
  }
  inode_release(file->inode);
  free(file);
}

static struct file *file_of(struct process *process, int number) {
  return number >= 0 && number < OPEN_MAX_FILES ? process->files[number] : NULL;
}

/* Enter a file, whose reference the table takes over, from number `from` on. */
static long descriptor_new(struct process *process, struct file *file, int from, int close_on_exec) {
  for (int i = from; file && i < OPEN_MAX_FILES; i++) {
    if (process->files[i]) continue;
    process->files[i] = file;
    process->close_on_exec[i] = (unsigned char)close_on_exec;
    return i;
  }
  if (file) file_release(file);
  return file ? -EMFILE : -ENOMEM;
}

static long descriptor_close(struct process *process, int number) {
  struct file *file = file_of(process, number);
  if (!file) return -EBADF;
  process->files[number] = NULL;
  process->close_on_exec[number] = 0;
  file_release(file);
  return 0;
}

static long duplicate(struct process *process, int number, int from) {
  struct file *file = file_of(process, number);
  if (!file) return -EBADF;
  if (from < 0 || from >= OPEN_MAX_FILES) return -EINVAL;
  file_hold(file);
  return descriptor_new(process, file, from, 0);
}

static long duplicate_to(struct process *process, int number, int to, int close_on_exec) {
  struct file *file = file_of(process, number);
  if (!file || to < 0 || to >= OPEN_MAX_FILES) return -EBADF;
  if (number == to) return to;
  file_hold(file);
  if (process->files[to]) file_release(process->files[to]);
  process->files[to] = file;
  process->close_on_exec[to] = (unsigned char)close_on_exec;
  return to;
}

/* --- reading and writing --------------------------------------------------------------------- */

static long pipe_read(struct file *file, struct request *request, size_t wanted) {
  struct pipe *pipe = file->inode->pipe;
  if (!pipe->used) return !pipe->writers ? 0 : file->flags & O_NONBLOCK ? -EAGAIN : WOULD_BLOCK;
  size_t count = MIN(wanted, pipe->used), first = MIN(count, PIPE_SIZE - pipe->begin);
  memcpy(request->out, pipe->bytes + pipe->begin, first);
  memcpy(request->out + first, pipe->bytes, count - first);
  pipe->used -= count;
  pipe->begin = pipe->used ? (pipe->begin + count) % PIPE_SIZE : 0;
  woken = 1;
  request->out_length = count;
  return (long)count;
}

/* All of it, in parts if need be; up to a page at once or not at all. */
static long pipe_write(struct file *file, struct request *request) {
  struct pipe *pipe = file->inode->pipe;
  if (!pipe->readers) return request->done ? (long)request->done : -EPIPE;
  size_t left = request->in_length - request->done, room = PIPE_SIZE - pipe->used;
  if (room && (left <= room || request->in_length > PAGE)) {
    size_t count = MIN(left, room), at = (pipe->begin + pipe->used) % PIPE_SIZE;
    size_t first = MIN(count, PIPE_SIZE - at);
    memcpy(pipe->bytes + at, request->in + request->done, first);
    memcpy(pipe->bytes, request->in + request->done + first, count - first);
    pipe->used += count;
    request->done += count;
    woken = 1;
  }
  if (request->done == request->in_length) return (long)request->done;
  if (!(file->flags & O_NONBLOCK)) return WOULD_BLOCK;
  return request->done ? (long)request->done : -EAGAIN;
}

long call_read(struct file *file, struct request *request) {
  size_t wanted = MIN((size_t)request->arguments[2], request->out_room);
  struct inode *inode = file->inode;
  if ((file->flags & O_ACCMODE) == O_WRONLY) return -EBADF;
  switch (inode->kind) {
    case DIRECTORY: return -EISDIR;
    case PIPE: return wanted ? pipe_read(file, request, wanted) : 0;
    case ZERO_DEVICE:
      memset(request->out, 0, wanted);
      request->out_length = wanted;
      return (long)wanted;
    case REGULAR: break;
    default: return 0;
  }
  if (file->offset >= inode->size) return 0;
  size_t count = (size_t)MIN((uint64_t)wanted, inode->size - file->offset);
  memcpy(request->out, inode->bytes + file->offset, count);
  file->offset += count;
  request->out_length = count;
  return (long)count;
}

long call_write(struct file *file, struct request *request) {
  struct inode *inode = file->inode;
  if ((file->flags & O_ACCMODE) == O_RDONLY) return -EBADF;
  switch (inode->kind) {
    case DIRECTORY: return -EISDIR;
    case PIPE: return request->in_length ? pipe_write(file, request) : 0;
    case CONSOLE: console_write(request->in, request->in_length); break;
    case REGULAR: {
      if (file->flags & O_APPEND) file->offset = inode->size;
      uint64_t end = file->offset + request->in_length;
      int error = end > inode->size ? inode_resize(inode, end) : 0;
      if (error) return error;
      memcpy(inode->bytes + file->offset, request->in, request->in_length);
      file->offset = end;
      inode->changed = now_seconds();
      break;
    }
    default: break;
  }
  return (long)request->in_length;
}

static long seek(struct file *file, struct request *request) {
  int64_t offset = (int64_t)request->arguments[1] << 32 | (uint32_t)request->arguments[2];
  if (file->inode->kind == PIPE) return -ESPIPE;
  switch (request->arguments[4]) {
    case SEEK_SET: break;
    case SEEK_CUR: offset += (int64_t)file->offset; break;
    case SEEK_END: offset += (int64_t)file->inode->size; break;
    default: return -EINVAL;
  }
  if (offset < 0) return -EINVAL;
  file->offset = (uint64_t)offset;
  memcpy(request->out, &offset, sizeof(offset));
  request->out_length = sizeof(offset);
  return 0;
}

static long new_pipe(struct process *process, struct request *request, int flags) {
  struct inode *inode = inode_new(PIPE, S_IFIFO | 0600);
  if (!inode) return -ENOMEM;
  inode->pipe = calloc(1, sizeof(struct pipe));
  if (!inode->pipe || !(inode->pipe->bytes = pages_new(PIPE_SIZE))) {
    inode_release(inode);
    return -ENFILE;
  }
  int keep = flags & O_NONBLOCK, close_on_exec = (flags & O_CLOEXEC) != 0;
  int ends[2] = {
      (int)descriptor_new(process, file_new(inode, O_RDONLY | keep), 0, close_on_exec),
      (int)descriptor_new(process, file_new(inode, O_WRONLY | keep), 0, close_on_exec)};
  inode_release(inode);
  if (ends[1] < 0) {
    if (ends[0] >= 0) descriptor_close(process, ends[0]);
    return -EMFILE;
  }
  memcpy(request->out, ends, sizeof(ends));
  request->out_length = sizeof(ends);
  return 0;
}

/* --- waiting for several ------------------------------------------------------------------------ */

int file_ready(struct file *file, int events) {
  struct pipe *pipe = file->inode->pipe;
  if (!pipe) return events & (POLLIN | POLLOUT);
  if ((file->flags & O_ACCMODE) == O_RDONLY)
    return (pipe->used ? events & POLLIN : 0) | (pipe->writers ? 0 : POLLHUP);
  return (PIPE_SIZE - pipe->used >= PAGE ? events & POLLOUT : 0) | (pipe->readers ? 0 : POLLERR);
}

/* Nothing was ready: wait, unless the time is over. */
static long not_ready(struct request *request, int milliseconds) {
  if (milliseconds == 0) return 0;
  if (milliseconds > 0) {
    uint64_t now = now_ms();
    if (request->deadline == NO_TIME) request->deadline = now + (unsigned)milliseconds;
    else if (now >= request->deadline) return 0;
  }
  return WOULD_BLOCK;
}

static long poll_files(struct process *process, struct request *request) {
  int count = (int)(request->in_length / sizeof(struct pollfd)), ready = 0;
  struct pollfd *answer = (struct pollfd *)request->out;
  memcpy(answer, request->in, (size_t)count * sizeof(*answer));
  for (int i = 0; i < count; i++) {
    struct file *file = file_of(process, answer[i].fd);
    answer[i].revents = 0;
    if (answer[i].fd < 0) continue;
    answer[i].revents = (short)(file ? file_ready(file, answer[i].events) : POLLNVAL);
    ready += answer[i].revents != 0;
  }
  long result = ready ? ready : not_ready(request, request->arguments[2]);
  if (result >= 0) request->out_length = (size_t)count * sizeof(*answer);
  return result;
}

static long select_files(struct process *process, struct request *request) {
  const fd_set *asked = (const fd_set *)request->in;
  fd_set *answer = (fd_set *)request->out;
  int count = request->arguments[0], ready = 0;
  if (request->in_length != 3 * sizeof(fd_set)) return -EINVAL;
  if (count < 0 || count > FD_SETSIZE) return -EINVAL;
  memset(answer, 0, 3 * sizeof(*answer));
  for (int i = 0; i < count; i++) {
    int in = FD_ISSET(i, &asked[0]), out = FD_ISSET(i, &asked[1]);
    if (!in && !out && !FD_ISSET(i, &asked[2])) continue;
    struct file *file = file_of(process, i);
    if (!file) return -EBADF;
    int found = file_ready(file, POLLIN | POLLOUT);
    if (in && found & (POLLIN | POLLHUP)) FD_SET(i, &answer[0]), ready++;
    if (out && found & (POLLOUT | POLLERR)) FD_SET(i, &answer[1]), ready++;
  }
  long result = ready ? ready : not_ready(request, request->arguments[1]);
  if (result >= 0) request->out_length = 3 * sizeof(*answer);
  return result;
}

/* --- names ----------------------------------------------------------------------------------- */

/* The directory from which a path of an *at() call begins. */
static struct inode *from_of(struct process *process, int number) {
  if (number == AT_FDCWD) return process->directory;
  struct file *file = file_of(process, number);
  return file ? file->inode : NULL;
}

/* The request's path; NULL when it does not end. */
static const char *path_of(const struct request *request) {
  return request->in_length && !request->in[request->in_length - 1] ? request->in : NULL;
}

static long open_file(struct process *process, struct request *request, int from, int flags,
                      mode_t mode) {
  const char *path = path_of(request), *last;
  struct inode *start = from_of(process, from), *inode, *directory;
  size_t length;
  if (!path || !start) return path ? -EBADF : -EINVAL;
  int error = inode_find(start, path, &inode, &directory, &last, &length);
  if (error) return error;
  if (inode && (flags & (O_CREAT | O_EXCL)) == (O_CREAT | O_EXCL)) return -EEXIST;
  if (!inode) {
    if (!(flags & O_CREAT)) return -ENOENT;
    if (last[length] == '/') return -EISDIR;
    if (!(inode = inode_new(REGULAR, S_IFREG | (mode & 0777 & ~process->mask)))) return -ENOSPC;
    if ((error = inode_link(directory, last, length, inode))) {
      inode_release(inode);
      return error;
    }
  }
  if (inode->kind == DIRECTORY && (flags & O_ACCMODE) != O_RDONLY) return -EISDIR;
  if (inode->kind != DIRECTORY && (flags & O_DIRECTORY)) return -ENOTDIR;
  if (flags & O_TRUNC && inode->kind == REGULAR && (flags & O_ACCMODE) != O_RDONLY)
    inode_resize(inode, 0);
  return descriptor_new(process, file_new(inode, flags), 0, (flags & O_CLOEXEC) != 0);
}

static void describe(const struct inode *inode, struct statx *out) {
  memset(out, 0, sizeof(*out));
  out->stx_mask = STATX_BASIC_STATS;
  out->stx_blksize = PAGE;
  out->stx_nlink = inode->kind == DIRECTORY ? 2 : 1;
  out->stx_mode = (uint16_t)inode->mode;
  out->stx_ino = inode->number;
  out->stx_size = inode->size;
  out->stx_blocks = PAGES(inode->size) / 512;
  out->stx_atime.tv_sec = out->stx_mtime.tv_sec = out->stx_ctime.tv_sec = inode->changed;
  out->stx_dev_minor = 1;
}

static long status_of(struct process *process, struct request *request) {
  const char *path = path_of(request);
  struct inode *start = from_of(process, request->arguments[0]), *inode = start;
  if (!path || !start) return path ? -EBADF : -EINVAL;
  if (*path || !(request->arguments[2] & AT_EMPTY_PATH)) {
    int error = inode_find(start, path, &inode, NULL, NULL, NULL);
    if (error) return error;
  }
  describe(inode, (struct statx *)request->out);
  request->out_length = sizeof(struct statx);
  return 0;
}

static long may_access(struct process *process, struct request *request, int from, int mode) {
  const char *path = path_of(request);
  struct inode *start = from_of(process, from), *inode;
  if (!path || !start) return path ? -EBADF : -EINVAL;
  int error = inode_find(start, path, &inode, NULL, NULL, NULL);
  if (error) return error;
  return mode & 1 && inode->kind != DIRECTORY && !(inode->mode & 0111) ? -EACCES : 0;
}

static long make_directory(struct process *process, struct request *request, int from, mode_t mode) {
  const char *path = path_of(request), *last;
  struct inode *start = from_of(process, from), *inode, *directory;
  size_t length;
  if (!path || !start) return path ? -EBADF : -EINVAL;
  int error = inode_find(start, path, &inode, &directory, &last, &length);
  if (error) return error;
  if (inode) return -EEXIST;
  if (!(inode = inode_new(DIRECTORY, S_IFDIR | (mode & 01777 & ~process->mask)))) return -ENOSPC;
  if ((error = inode_link(directory, last, length, inode))) inode_release(inode);
  return error;
}

static long remove_name(struct process *process, struct request *request, int from, int directory) {
  const char *path = path_of(request);
  struct inode *start = from_of(process, from), *inode;
  if (!path || !start) return path ? -EBADF : -EINVAL;
  int error = inode_find(start, path, &inode, NULL, NULL, NULL);
  if (error) return error;
  if (directory && inode->kind != DIRECTORY) return -ENOTDIR;
  if (!directory && inode->kind == DIRECTORY) return -EISDIR;
  if (inode->children) return -ENOTEMPTY;
  if (!inode->parent) return -EBUSY;
  inode_unlink(inode);
  return 0;
}

static long rename_file(struct process *process, struct request *request) {
  const char *old = path_of(request), *last;
  struct inode *inode, *other, *directory;
  size_t length;
  if (!old || strlen(old) + 1 >= request->in_length) return -EINVAL;
  int error = inode_find(process->directory, old, &inode, NULL, NULL, NULL);
  if (!error)
    error = inode_find(process->directory, old + strlen(old) + 1, &other, &directory, &last, &length);
  if (error) return error;
  if (!inode->parent) return -EBUSY;
  for (struct inode *above = directory; above; above = above->parent)
    if (above == inode) return -EINVAL;
  if (other == inode) return 0;
  if (other) {
    if ((other->kind == DIRECTORY) != (inode->kind == DIRECTORY))
      return other->kind == DIRECTORY ? -EISDIR : -ENOTDIR;
    if (other->children) return -ENOTEMPTY;
  }
  char name[NAME_MAX_BYTES + 1];
  if (length > NAME_MAX_BYTES) return -ENAMETOOLONG;
  memcpy(name, last, length); /* `other` may go, and the path is the caller's */
  if (other) inode_unlink(other);
  inode_hold(inode);
  inode_unlink(inode);
  free(inode->name);
  inode->name = NULL;
  return inode_link(directory, name, length, inode);
}

static long change_directory(struct process *process, struct inode *inode) {
  if (!inode) return -EBADF;
  if (inode->kind != DIRECTORY) return -ENOTDIR;
  inode_hold(inode);
  inode_release(process->directory);
  process->directory = inode;
  return 0;
}

static long directory_name(struct process *process, struct request *request) {
  char path[UNIX_INLINE_MAX];
  size_t at = sizeof(path) - 1;
  path[at] = '\0';
  for (struct inode *inode = process->directory; inode->parent; inode = inode->parent) {
    size_t length = strlen(inode->name);
    if (length + 1 > at) return -ENAMETOOLONG;
    at -= length;
    memcpy(path + at, inode->name, length);
    path[--at] = '/';
  }
  if (path[at] == '\0') path[--at] = '/';
  size_t length = sizeof(path) - at;
  if (length > (size_t)request->arguments[1]) return -ERANGE;
  memcpy(request->out, path + at, length);
  request->out_length = length;
  return (long)length;
}

/* Entries from the file's offset on: 0 and 1 are the directory and its parent. */
static long list_directory(struct file *file, struct request *request) {
  struct inode *directory = file->inode;
  size_t room = MIN((size_t)request->arguments[2], request->out_room), used = 0;
  if (directory->kind != DIRECTORY) return -ENOTDIR;
  struct inode *at = directory->children;
  for (uint64_t i = 2; i < file->offset && at; i++) at = at->next;
  while (file->offset < 2 || at) {
    const struct inode *one = file->offset == 0 ? directory
                              : file->offset == 1 && directory->parent ? directory->parent
                              : file->offset == 1                      ? directory
                                                                       : at;
    const char *name = file->offset == 0 ? "." : file->offset == 1 ? ".." : at->name;
    struct dirent *entry = (struct dirent *)(request->out + used);
    size_t size = (offsetof(struct dirent, d_name) + strlen(name) + 1 + 7) & ~7u;
    if (used + size > room) break;
    entry->d_ino = one->number;
    entry->d_off = (off_t)file->offset + 1;
    entry->d_reclen = (unsigned short)size;
    entry->d_type = one->kind == DIRECTORY ? DT_DIR : one->kind == REGULAR ? DT_REG : DT_CHR;
    strcpy(entry->d_name, name);
    used += size;
    if (file->offset++ >= 2) at = at->next;
  }
  request->out_length = used;
  return used || !at ? (long)used : -EINVAL;
}

/* --- memory from files ----------------------------------------------------------------------- */

long map_file(struct process *process, struct file *file, const struct request *request);

/* --- the rest ---------------------------------------------------------------------------------- */

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

static long set_action(struct process *process, int signal, int action) {
  if (signal < 1 || signal > 31) return signal < 1 || signal > 64 ? -EINVAL : 0;
  uint32_t bit = 1u << (signal - 1);
  long before = process->ignored & bit ? 1 : 0;
  if (action >= 0 && (signal == SIGKILL || signal == SIGSTOP)) return -EINVAL;
  if (action == 1) process->ignored |= bit;
  if (action == 0) process->ignored &= ~bit;
  return before;
}

/* pread(), pwrite(): at an offset of its own. */
static long positioned(struct file *file, struct request *request) {
  uint64_t before = file->offset;
  if (file->inode->kind == PIPE) return -ESPIPE;
  if (request->arguments[4] < 0) return -EINVAL;
  file->offset = (uint64_t)request->arguments[4] << 32 | (uint32_t)request->arguments[3];
  long result = request->number == SYS_pread64 ? call_read(file, request) : call_write(file, request);
  file->offset = before;
  return result;
}

static long file_call(struct process *process, struct request *request) {
  const int *a = request->arguments;
  struct file *file = file_of(process, request->number == SYS_mmap2 ? a[4] : a[0]);
  if (!file) return -EBADF;
  switch (request->number) {
    case SYS_read: return call_read(file, request);
    case SYS_write: {
      long result = call_write(file, request);
      if (result == -EPIPE && !(process->ignored & 1u << (SIGPIPE - 1)))
        return process_kill(process, process->pid, SIGPIPE);
      return result;
    }
    case SYS_pread64:
    case SYS_pwrite64: return positioned(file, request);
    case SYS__llseek: return seek(file, request);
    case SYS_getdents64: return list_directory(file, request);
    case SYS_fcntl64: return control(process, file, request);
    case SYS_fchdir: return change_directory(process, file->inode);
    case SYS_ftruncate64:
      if (file->inode->kind != REGULAR || a[2]) return -EINVAL;
      return inode_resize(file->inode, (uint32_t)a[1]);
    case SYS_mmap2: return map_file(process, file, request);
    case SYS_ioctl:
      return file->inode->kind == COUNTERS ? counters_control(file, request) : -ENOTTY;
    default: return 0; /* fsync, fdatasync: it is all in memory */
  }
}

static long name_call(struct process *process, struct request *request) {
  const int *a = request->arguments;
  struct inode *inode;
  switch (request->number) {
    case SYS_open: return open_file(process, request, AT_FDCWD, a[1], (mode_t)a[2]);
    case SYS_openat: return open_file(process, request, a[0], a[2], (mode_t)a[3]);
    case SYS_access: return may_access(process, request, AT_FDCWD, a[1]);
    case SYS_faccessat:
    case SYS_faccessat2: return may_access(process, request, a[0], a[2]);
    case SYS_mkdir: return make_directory(process, request, AT_FDCWD, (mode_t)a[1]);
    case SYS_mkdirat: return make_directory(process, request, a[0], (mode_t)a[2]);
    case SYS_rmdir: return remove_name(process, request, AT_FDCWD, 1);
    case SYS_unlink: return remove_name(process, request, AT_FDCWD, 0);
    case SYS_unlinkat: return remove_name(process, request, a[0], (a[2] & AT_REMOVEDIR) != 0);
    default: break;
  }
  const char *path = path_of(request);
  if (!path) return -EINVAL;
  int error = inode_find(process->directory, path, &inode, NULL, NULL, NULL);
  if (error) return error;
  if (request->number == SYS_chdir) return change_directory(process, inode);
  if (request->number == SYS_readlink) return -EINVAL; /* there are no links */
  if (request->number == SYS_truncate64)
    return inode->kind == REGULAR && !a[2] ? inode_resize(inode, (uint32_t)a[1]) : -EINVAL;
  inode->mode = (inode->mode & S_IFMT) | ((mode_t)a[1] & 07777); /* SYS_chmod */
  return 0;
}

/* What init.c mounts is there from the start, all in memory. */
static long mount_type(const struct request *request) {
  static const char *const known[] = {"proc", "sysfs", "devtmpfs", "tmpfs"};
  for (size_t i = 0; path_of(request) && i < sizeof(known) / sizeof(*known); i++)
    if (strcmp(request->in, known[i]) == 0) return 0;
  return -ENODEV;
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
    case SYS_ftruncate64:
    case SYS_mmap2:
    case SYS_fsync:
    case SYS_fdatasync:
    case SYS_ioctl: return file_call(process, request);
    case SYS_open:
    case SYS_openat:
    case SYS_access:
    case SYS_faccessat:
    case SYS_faccessat2:
    case SYS_mkdir:
    case SYS_mkdirat:
    case SYS_rmdir:
    case SYS_unlink:
    case SYS_unlinkat:
    case SYS_chdir:
    case SYS_readlink:
    case SYS_truncate64:
    case SYS_chmod: return name_call(process, request);
    case SYS_close: return descriptor_close(process, a[0]);
    case SYS_dup: return duplicate(process, a[0], 0);
    case SYS_dup2: return duplicate_to(process, a[0], a[1], 0);
    case SYS_dup3:
      return a[0] == a[1] ? -EINVAL : duplicate_to(process, a[0], a[1], (a[2] & O_CLOEXEC) != 0);
    case SYS_pipe: return new_pipe(process, request, 0);
    case SYS_pipe2: return new_pipe(process, request, a[1]);
    case SYS_poll: return poll_files(process, request);
    case SYS__newselect: return select_files(process, request);
    case SYS_statx: return status_of(process, request);
    case SYS_rename: return rename_file(process, request);
    case SYS_getcwd: return directory_name(process, request);
    case SYS_umask: {
      mode_t before = process->mask;
      process->mask = (mode_t)a[0] & 0777;
      return (long)before;
    }
    case SYS_mount: return mount_type(request);
    case SYS_sync: return 0;
    case SYS_getpid:
    case SYS_gettid:
    case SYS_set_tid_address: return process->pid;
    case SYS_getppid: return process->parent;
    case SYS_getuid32:
    case SYS_geteuid32:
    case SYS_getgid32:
    case SYS_getegid32: return 0;
    case SYS_uname: return system_name(request);
    case SYS_fork: return process_fork(process, a[0], a[1]);
    case SYS_execve: return process_exec(process, request);
    case SYS_wait4: return process_wait(process, request);
    case SYS_kill: return process_kill(process, a[0], a[1]);
    case SYS_tkill: return process_kill(process, a[0], a[1]);
    case SYS_rt_sigaction: return set_action(process, a[0], a[1]);
    case SYS_exit:
    case SYS_exit_group: process_end(process, (a[0] & 0xFF) << 8); return NO_ANSWER;
    default: return -ENOSYS;
  }
}
