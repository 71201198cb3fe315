// SPDX-License-Identifier: MIT
/*
 * Stream sockets of the local domain. A connection has two pipes, one for each direction. A
 * listening socket keeps new connections in a queue until a process accepts them. The name of a
 * bound socket is a file of type socket. A connection to this file reaches the socket.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>

#include "server.h"

#define BACKLOG_MAX 128

struct socket {
  struct socket *next; /* in the list of bound sockets */
  int node;            /* node of its name, with a reference; 0: no name */
  char name[sizeof(struct sockaddr_un)];
  int name_length, listening, backlog, waiting;
  struct file *first; /* queue of connections to accept: the server's ends */
};

static struct socket *bound;

/* The files of a queue are linked by their sockets. */
static struct file *new_end(int flags) {
  struct file *file = file_new(SOCKET, O_RDWR | flags);
  if (file && !(file->socket = calloc(1, sizeof(struct socket)))) {
    file_release(file);
    return NULL;
  }
  return file;
}

/* Connect two ends. Returns 0 or -ENOMEM. */
static int join(struct file *one, struct file *other) {
  struct pipe *there = pipe_new(), *back = pipe_new();
  if (!there || !back) {
    if (there) pipe_release(there, 1), pipe_release(there, 0);
    if (back) pipe_release(back, 1), pipe_release(back, 0);
    return -ENOMEM;
  }
  one->out = other->in = there;
  other->out = one->in = back;
  woken = 1;
  return 0;
}

void socket_release(struct socket *socket) {
  while (socket->first) {
    struct file *file = socket->first;
    socket->first = file->socket->first;
    file->socket->first = NULL;
    file_release(file);
  }
  for (struct socket **place = &bound; *place; place = &(*place)->next)
    if (*place == socket) {
      *place = socket->next;
      break;
    }
  if (socket->node) fs_call(&(struct fs_request){.operation = FS_RELEASE, .node = socket->node});
  free(socket);
  woken = 1;
}

int socket_ready(struct socket *socket, int events) {
  if (socket->listening) return socket->first ? events & POLLIN : 0;
  return (events & POLLOUT) | POLLHUP; /* not connected */
}

static long keep(struct process *process, struct file *file, int type) {
  return descriptor_new(process, file, 0, (type & SOCK_CLOEXEC) != 0);
}

static int known(int domain, int type, int protocol) {
  if (domain != AF_UNIX) return -EAFNOSUPPORT;
  if ((type & ~(SOCK_CLOEXEC | SOCK_NONBLOCK)) != SOCK_STREAM) return -ESOCKTNOSUPPORT;
  return protocol ? -EPROTONOSUPPORT : 0;
}

static long make_one(struct process *process, const int *a) {
  int error = known(a[0], a[1], a[2]);
  if (error) return error;
  return keep(process, new_end(a[1] & SOCK_NONBLOCK ? O_NONBLOCK : 0), a[1]);
}

static long make_pair(struct process *process, struct request *request) {
  const int *a = request->arguments;
  int error = known(a[0], a[1], a[2]), flags = a[1] & SOCK_NONBLOCK ? O_NONBLOCK : 0, ends[2];
  if (error) return error;
  struct file *one = new_end(flags), *other = new_end(flags);
  if (!one || !other || join(one, other)) {
    if (one) file_release(one);
    if (other) file_release(other);
    return -ENOMEM;
  }
  ends[0] = (int)keep(process, one, a[1]);
  ends[1] = (int)keep(process, other, a[1]);
  if (ends[0] < 0 || ends[1] < 0) {
    if (ends[0] >= 0) descriptor_close(process, ends[0]);
    if (ends[1] >= 0) descriptor_close(process, ends[1]);
    return -EMFILE;
  }
  memcpy(request->out, ends, sizeof(ends));
  request->out_length = sizeof(ends);
  return 0;
}

/* The path of an address. NULL if the address has no valid path. */
static const char *path_of(const struct request *request, char *path) {
  const struct sockaddr_un *name = (const struct sockaddr_un *)request->in;
  size_t begin = offsetof(struct sockaddr_un, sun_path), length = request->in_length;
  if (length <= begin || length > sizeof(*name) || name->sun_family != AF_UNIX) return NULL;
  memcpy(path, name->sun_path, length - begin);
  path[length - begin] = '\0';
  return *path ? path : NULL;
}

static long bind_name(struct process *process, struct socket *socket, const struct request *request) {
  char path[sizeof(struct sockaddr_un)];
  if (!path_of(request, path) || socket->node) return -EINVAL;
  struct fs_request r = {.operation = FS_OPEN, .node = process->directory,
                         .a = O_CREAT | O_EXCL, .b = (int)(S_IFSOCK | (0777 & ~process->mask)),
                         .in = path, .in_length = strlen(path) + 1};
  long kind = fs_call(&r);
  if (kind < 0) return kind == -EEXIST ? -EADDRINUSE : kind;
  socket->node = r.more;
  socket->name_length = (int)request->in_length;
  memcpy(socket->name, request->in, request->in_length);
  socket->next = bound;
  bound = socket;
  return 0;
}

static long connect_to(struct process *process, struct file *file, const struct request *request) {
  char path[sizeof(struct sockaddr_un)];
  if (!path_of(request, path)) return -EINVAL;
  if (file->in) return -EISCONN;
  if (file->socket->listening) return -EINVAL;
  struct fs_request r = {.operation = FS_OPEN, .node = process->directory, .a = O_RDONLY,
                         .in = path, .in_length = strlen(path) + 1};
  long kind = fs_call(&r);
  if (kind < 0) return kind;
  struct socket *there = bound;
  while (there && there->node != r.more) there = there->next;
  fs_call(&(struct fs_request){.operation = FS_RELEASE, .node = r.more});
  if (!there || !there->listening) return -ECONNREFUSED;
  if (there->waiting >= there->backlog) return file->flags & O_NONBLOCK ? -EAGAIN : WOULD_BLOCK;
  struct file *end = new_end(0), **last = &there->first;
  if (!end || join(file, end)) {
    if (end) file_release(end);
    return -ENOMEM;
  }
  while (*last) last = &(*last)->socket->first;
  *last = end;
  there->waiting++;
  return 0;
}

static long accept_one(struct process *process, struct file *file, struct request *request) {
  struct socket *socket = file->socket;
  struct file *end = socket->first;
  if (!socket->listening) return -EINVAL;
  if (!end) return file->flags & O_NONBLOCK ? -EAGAIN : WOULD_BLOCK;
  socket->first = end->socket->first;
  end->socket->first = NULL;
  socket->waiting--;
  woken = 1;
  if (request->arguments[3] & SOCK_NONBLOCK) end->flags |= O_NONBLOCK;
  struct sockaddr_un nobody = {.sun_family = AF_UNIX};
  memcpy(request->out, &nobody, sizeof(nobody.sun_family));
  request->out_length = sizeof(nobody.sun_family);
  return keep(process, end, request->arguments[3]);
}

static long shut(struct file *file, int how) {
  if (!file->in && !file->out) return -ENOTCONN;
  if (how < SHUT_RD || how > SHUT_RDWR) return -EINVAL;
  if (how != SHUT_WR && file->in) pipe_release(file->in, 1), file->in = NULL;
  if (how != SHUT_RD && file->out) pipe_release(file->out, 0), file->out = NULL;
  return 0;
}

static long name_of(const struct socket *socket, struct request *request) {
  struct sockaddr_un name = {.sun_family = AF_UNIX};
  size_t length = socket->name_length ? (size_t)socket->name_length : sizeof(name.sun_family);
  if (socket->name_length) memcpy(&name, socket->name, length);
  memcpy(request->out, &name, length);
  request->out_length = length;
  return 0;
}

static long option_of(const int *a, struct request *request) {
  int value = 0;
  if (a[1] != SOL_SOCKET) return -ENOPROTOOPT;
  if (a[2] == SO_TYPE) value = SOCK_STREAM;
  else if (a[2] == SO_SNDBUF || a[2] == SO_RCVBUF) value = 65536;
  else if (a[2] != SO_ERROR && a[2] != SO_ACCEPTCONN && a[2] != SO_REUSEADDR) return -ENOPROTOOPT;
  memcpy(request->out, &value, sizeof(value));
  request->out_length = sizeof(value);
  return 0;
}

static long transfer(struct process *process, struct file *file, struct request *request) {
  const int *a = request->arguments;
  int flags = a[3], before = file->flags;
  long result;
  if (flags & ~(MSG_DONTWAIT | MSG_NOSIGNAL | MSG_WAITALL)) return -EOPNOTSUPP;
  if (flags & MSG_DONTWAIT) file->flags |= O_NONBLOCK;
  if (request->number == SYS_recvfrom) result = file_read(process, file, request, (size_t)a[2]);
  else result = file_write(file, request);
  file->flags = before;
  if (result == -EPIPE && !(flags & MSG_NOSIGNAL) && signal_send(process, SIGPIPE) == ENDED)
    return NO_ANSWER;
  return result;
}

long socket_call(struct process *process, struct request *request) {
  const int *a = request->arguments;
  if (request->number == SYS_socket) return make_one(process, a);
  if (request->number == SYS_socketpair) return make_pair(process, request);
  struct file *file = file_of(process, a[0]);
  if (!file) return -EBADF;
  struct socket *socket = file->socket;
  if (!socket) return -ENOTSOCK;
  switch (request->number) {
    case SYS_bind: return bind_name(process, socket, request);
    case SYS_connect: return connect_to(process, file, request);
    case SYS_listen:
      if (!socket->node || file->in) return -EINVAL;
      socket->listening = 1;
      socket->backlog = a[1] < 1 ? 1 : MIN(a[1], BACKLOG_MAX);
      return 0;
    case SYS_accept4: return accept_one(process, file, request);
    case SYS_shutdown: return shut(file, a[1]);
    case SYS_getsockname: return name_of(socket, request);
    case SYS_getpeername: return file->in || file->out ? name_of(&(struct socket){0}, request) : -ENOTCONN;
    case SYS_getsockopt: return option_of(a, request);
    case SYS_setsockopt: return a[1] == SOL_SOCKET ? 0 : -ENOPROTOOPT;
    default: return transfer(process, file, request);
  }
}
