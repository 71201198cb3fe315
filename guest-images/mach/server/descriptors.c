// SPDX-License-Identifier: MIT
/* Open files: descriptors, reads and writes, pipes, and waiting for several files. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "server.h"

#define PIPE_SIZE 65536u

struct file *file_new(enum kind kind, int flags) {
  struct file *file = calloc(1, sizeof(*file));
  if (!file) return NULL;
  file->references = 1;
  file->kind = kind;
  file->flags = flags;
  return file;
}

void file_hold(struct file *file) { file->references++; }

void file_release(struct file *file) {
  if (--file->references) return;
  if (file->in) pipe_release(file->in, 1);
  if (file->out) pipe_release(file->out, 0);
  if (file->socket) socket_release(file->socket);
  if (file->node) fs_call(&(struct fs_request){.operation = FS_RELEASE, .node = file->node});
  free(file);
}

struct file *file_of(struct process *process, int number) {
  return number >= 0 && number < OPEN_MAX_FILES ? process->files[number] : NULL;
}

long descriptor_new(struct process *process, struct file *file, int from, int close_on_exec) {
  for (int i = from; file && i < OPEN_MAX_FILES; i++) {
    if (process->files[i]) continue;
    process->files[i] = file;
    process->close_on_exec[i] = (unsigned char)close_on_exec;
    return i;
  }
  if (file) file_release(file);
  return file ? -EMFILE : -ENOMEM;
}

long descriptor_close(struct process *process, int number) {
  struct file *file = file_of(process, number);
  if (!file) return -EBADF;
  process->files[number] = NULL;
  process->close_on_exec[number] = 0;
  file_release(file);
  return 0;
}

long duplicate(struct process *process, int number, int from) {
  struct file *file = file_of(process, number);
  if (!file) return -EBADF;
  if (from < 0 || from >= OPEN_MAX_FILES) return -EINVAL;
  file_hold(file);
  return descriptor_new(process, file, from, 0);
}

long duplicate_to(struct process *process, int number, int to, int close_on_exec) {
  struct file *file = file_of(process, number);
  if (!file || to < 0 || to >= OPEN_MAX_FILES) return -EBADF;
  if (number == to) return to;
  file_hold(file);
  if (process->files[to]) file_release(process->files[to]);
  process->files[to] = file;
  process->close_on_exec[to] = (unsigned char)close_on_exec;
  return to;
}

/* --- pipes ------------------------------------------------------------------------------------ */

struct pipe *pipe_new(void) {
  struct pipe *pipe = calloc(1, sizeof(*pipe));
  if (!pipe) return NULL;
  if ((pipe->bytes = pages_new(PIPE_SIZE))) {
    pipe->readers = pipe->writers = 1;
    return pipe;
  }
  free(pipe);
  return NULL;
}

/* Remove a reader or writer. */
void pipe_release(struct pipe *pipe, int reading) {
  if (reading) pipe->readers--;
  else pipe->writers--;
  woken = 1;
  if (pipe->readers || pipe->writers) return;
  pages_free(pipe->bytes, PIPE_SIZE);
  free(pipe);
}

static long pipe_read(struct file *file, struct request *request, size_t wanted) {
  struct pipe *pipe = file->in;
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

/* Write all bytes, in parts if necessary. A write of at most one page is never divided. */
static long pipe_write(struct file *file, struct request *request) {
  struct pipe *pipe = file->out;
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

long new_pipe(struct process *process, struct request *request, int flags) {
  struct pipe *pipe = pipe_new();
  if (!pipe) return -ENFILE;
  int keep = flags & O_NONBLOCK, close_on_exec = (flags & O_CLOEXEC) != 0;
  struct file *read_end = file_new(PIPE, O_RDONLY | keep);
  struct file *write_end = file_new(PIPE, O_WRONLY | keep);
  if (read_end) read_end->in = pipe;
  else pipe_release(pipe, 1);
  if (write_end) write_end->out = pipe;
  else pipe_release(pipe, 0);
  int ends[2] = {(int)descriptor_new(process, read_end, 0, close_on_exec),
                 (int)descriptor_new(process, write_end, 0, close_on_exec)};
  if (ends[0] < 0 || ends[1] < 0) {
    if (ends[0] >= 0) descriptor_close(process, ends[0]);
    if (ends[1] >= 0) descriptor_close(process, ends[1]);
    return ends[0] < 0 ? ends[0] : ends[1];
  }
  memcpy(request->out, ends, sizeof(ends));
  request->out_length = sizeof(ends);
  return 0;
}

/* --- reading and writing --------------------------------------------------------------------- */

static long node_read(const struct file *file, struct request *request, uint32_t offset,
                      size_t wanted) {
  struct fs_request r = {.operation = FS_READ, .node = file->node, .a = (int)offset,
                         .b = (int)wanted, .out = request->out, .out_room = request->out_room,
                         .may_replace = request->pages};
  long count = fs_call(&r);
  request->out = r.out;
  request->out_room = r.out_room;
  request->out_length = r.out_length;
  return count;
}

/* Write at `offset`, or at the file's end if `offset` is -1. *behind receives the offset after the
 * last byte.
 */
static long node_write(const struct file *file, const struct request *request, int offset,
                       uint32_t *behind) {
  struct fs_request r = {.operation = FS_WRITE, .node = file->node, .a = offset,
                         .in = request->in, .in_length = request->in_length};
  long count = fs_call(&r);
  *behind = (uint32_t)r.more;
  return count;
}

long file_read(struct process *process, struct file *file, struct request *request, size_t wanted) {
  wanted = MIN(wanted, request->out_room);
  if ((file->flags & O_ACCMODE) == O_WRONLY) return -EBADF;
  switch (file->kind) {
    case DIRECTORY: return -EISDIR;
    case SOCKET:
      if (!file->in) return -ENOTCONN;
      __attribute__((fallthrough));
    case PIPE: return wanted ? pipe_read(file, request, wanted) : 0;
    case ZERO_DEVICE:
      memset(request->out, 0, wanted);
      request->out_length = wanted;
      return (long)wanted;
    case CONSOLE: return console_read(process, file, request, wanted);
    case REGULAR: {
      long count = node_read(file, request, file->offset, wanted);
      if (count > 0) file->offset += (uint32_t)count;
      return count;
    }
    default: return 0;
  }
}

long file_write(struct file *file, struct request *request) {
  if ((file->flags & O_ACCMODE) == O_RDONLY) return -EBADF;
  switch (file->kind) {
    case DIRECTORY: return -EISDIR;
    case SOCKET:
      if (!file->out) return -ENOTCONN;
      __attribute__((fallthrough));
    case PIPE: return request->in_length ? pipe_write(file, request) : 0;
    case CONSOLE: console_write(request->in, request->in_length); break;
    case REGULAR: {
      uint32_t behind;
      if (!request->in_length) return 0;
      long count = node_write(file, request, file->flags & O_APPEND ? -1 : (int)file->offset, &behind);
      if (count >= 0) file->offset = behind;
      return count;
    }
    default: break;
  }
  return (long)request->in_length;
}

/* pread(), pwrite(): read or write at a given offset. */
long positioned(struct process *process, struct file *file, struct request *request) {
  const int *a = request->arguments;
  uint32_t behind, wanted = (uint32_t)MIN((size_t)a[2], request->out_room);
  int writing = request->number == SYS_pwrite64, access = file->flags & O_ACCMODE;
  if (a[4] < 0) return -EINVAL;
  if (a[4] || a[3] < 0) return writing ? -EFBIG : 0;
  if (file->in || file->out || file->socket) return -ESPIPE;
  if (access == (writing ? O_RDONLY : O_WRONLY)) return -EBADF;
  if (file->kind == DIRECTORY) return -EISDIR;
  if (file->kind != REGULAR)
    return writing ? file_write(file, request) : file_read(process, file, request, wanted);
  return writing ? node_write(file, request, a[3], &behind)
                 : node_read(file, request, (uint32_t)a[3], wanted);
}

long seek(struct file *file, struct request *request) {
  int64_t offset = (int64_t)request->arguments[1] << 32 | (uint32_t)request->arguments[2];
  if (file->in || file->out || file->socket) return -ESPIPE;
  switch (request->arguments[4]) {
    case SEEK_SET: break;
    case SEEK_CUR: offset += file->offset; break;
    case SEEK_END:
      if (file->node) offset += fs_call(&(struct fs_request){.operation = FS_SIZE, .node = file->node});
      break;
    default: return -EINVAL;
  }
  if (offset < 0) return -EINVAL;
  if (offset > FILE_MAX) return -EOVERFLOW;
  file->offset = (uint32_t)offset;
  memcpy(request->out, &offset, sizeof(offset));
  request->out_length = sizeof(offset);
  return 0;
}

long list_directory(struct file *file, struct request *request) {
  struct fs_request r = {.operation = FS_LIST, .node = file->node, .a = (int)file->offset,
                         .out = request->out,
                         .out_room = MIN((size_t)request->arguments[2], request->out_room),
                         .may_replace = request->pages};
  if (file->kind != DIRECTORY) return -ENOTDIR;
  size_t rest = PAGES(request->out_room), used = PAGES(r.out_room);
  if (request->pages && used < rest) { /* keep only the pages that the answer may replace */
    pages_free(request->out + used, rest - used);
    request->out_room = r.out_room;
  }
  long count = fs_call(&r);
  request->out = r.out;
  if (request->pages) request->out_room = r.out_room;
  request->out_length = r.out_length;
  if (count >= 0) file->offset = (uint32_t)r.more;
  return count;
}

long resize(struct file *file, int low, int high) {
  if (file->kind != REGULAR || high < 0) return -EINVAL;
  if ((file->flags & O_ACCMODE) == O_RDONLY) return -EINVAL;
  if (high || low < 0) return -EFBIG;
  return fs_call(&(struct fs_request){.operation = FS_RESIZE, .node = file->node, .a = low});
}

/* --- waiting for several ---------------------------------------------------------------------- */

static int readable(const struct pipe *pipe, int events) {
  return (pipe->used || !pipe->writers ? events & POLLIN : 0) | (pipe->writers ? 0 : POLLHUP);
}

int file_ready(struct file *file, int events) {
  if (file->kind == CONSOLE) return (console_ready() ? events & POLLIN : 0) | (events & POLLOUT);
  if (file->socket && !file->in) return socket_ready(file->socket, events);
  if (!file->in && !file->out) return events & (POLLIN | POLLOUT);
  int ready = 0;
  if (file->in) ready |= readable(file->in, events);
  if (file->kind == PIPE && file->in && !file->in->used) ready &= ~POLLIN; /* as in Linux */
  if (file->out) {
    if (PIPE_SIZE - file->out->used >= PAGE) ready |= events & POLLOUT;
    if (!file->out->readers) ready |= file->kind == SOCKET ? POLLHUP | (events & POLLOUT) : POLLERR;
  }
  return ready;
}

/* No file is ready. Wait, unless the time is over. */
static long not_ready(struct request *request, int milliseconds) {
  if (milliseconds == 0) return 0;
  if (milliseconds > 0) {
    uint64_t now = now_ms();
    if (request->deadline == NO_TIME) request->deadline = now + (unsigned)milliseconds;
    else if (now >= request->deadline) return 0;
  }
  return WOULD_BLOCK;
}

long poll_files(struct process *process, struct request *request) {
  int count = (int)(request->in_length / sizeof(struct pollfd)), ready = 0;
  struct pollfd *answer = (struct pollfd *)request->out;
  if (count) memcpy(answer, request->in, (size_t)count * sizeof(*answer));
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

long select_files(struct process *process, struct request *request) {
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
