/* SPDX-License-Identifier: MIT */
/*
 * A small HTTP/1.0 server for files, with three process structures. All three handle a request in
 * the same way, so that only the structure differs:
 *
 *   fork      a process for each connection, as in NCSA httpd 1.3 (chen95's server on NetBSD)
 *   prefork   a fixed number of processes made at the start; each accepts and serves connections
 *             (NCSA httpd 1.4 and Apache 1.0, 1995)
 *   event     one process for all connections; it waits by poll()
 *
 * The server looks up the file. It writes the header, the file in pieces of 8 KB, and a line of the
 * common log format to the access log. The current directory is the root of the tree.
 */
#ifndef P5LAB_HTTPD_H
#define P5LAB_HTTPD_H

#include <poll.h>

#include "net.h"

enum httpd_structure { HTTPD_FORK, HTTPD_PREFORK, HTTPD_EVENT };

#define HTTPD_PIECE 8192
#define HTTPD_CONNECTIONS 64

struct httpd_connection {
  int socket, file;
  size_t used;      /* bytes of the request; later of the current piece of the answer */
  size_t written;   /* bytes written of the piece */
  int status;       /* 0 until the request is complete */
  long sent;        /* bytes of the file */
  char path[64];
  char piece[HTTPD_PIECE];
};

static int httpd_log;

/* Write one line of the common log format. The client's address and the time are constants, because
 * only the length of the line matters. The line contains no host name, because servers did not look
 * up names.
 */
static inline void httpd_log_line(const struct httpd_connection *connection) {
  char line[256];
  time_t now = time(NULL);
  struct tm *date = gmtime(&now);
  int length = snprintf(line, sizeof(line),
                        "10.0.0.1 - - [%02d/%02d/%04d:%02d:%02d:%02d +0000] \"GET /%s HTTP/1.0\" %d %ld\n",
                        date->tm_mday, date->tm_mon + 1, date->tm_year + 1900, date->tm_hour,
                        date->tm_min, date->tm_sec, connection->path, connection->status,
                        connection->sent);
  if (write(httpd_log, line, (size_t)length) != length) p5w_fail("access log");
}

/* Check whether the request is complete. If so, open the file and make the header the first piece
 * of the answer. Returns whether the request is complete.
 */
static inline int httpd_request(struct httpd_connection *connection) {
  struct stat status;
  connection->piece[connection->used] = '\0';
  if (!strstr(connection->piece, "\r\n\r\n")) {
    if (connection->used < HTTPD_PIECE - 1) return 0;
    connection->status = 400;
  } else if (sscanf(connection->piece, "GET /%63[^ ] HTTP/1", connection->path) != 1 ||
             strstr(connection->path, "..")) {
    connection->status = 400;
  } else {
    connection->file = open(connection->path, O_RDONLY);
    int found = connection->file >= 0 && fstat(connection->file, &status) == 0 && S_ISREG(status.st_mode);
    connection->status = found ? 200 : 404;
  }
  connection->written = 0;
  if (connection->status != 200)
    connection->used = (size_t)snprintf(connection->piece, HTTPD_PIECE,
                                        "HTTP/1.0 %d Error\r\nServer: p5lab\r\n\r\n", connection->status);
  else
    connection->used = (size_t)snprintf(
        connection->piece, HTTPD_PIECE,
        "HTTP/1.0 200 OK\r\nServer: p5lab\r\nMIME-version: 1.0\r\nContent-type: text/html\r\n"
        "Last-modified: %lu\r\nContent-length: %ld\r\n\r\n",
        (unsigned long)status.st_mtime, (long)status.st_size);
  return 1;
}

/* Read the next piece of the file. Returns whether there is another piece. */
static inline int httpd_piece(struct httpd_connection *connection) {
  if (connection->status != 200) return 0;
  ssize_t count = read(connection->file, connection->piece, HTTPD_PIECE);
  if (count < 0) p5w_fail(connection->path);
  connection->used = (size_t)count, connection->written = 0;
  connection->sent += count;
  return count > 0;
}

static inline void httpd_close(struct httpd_connection *connection) {
  if (connection->status) httpd_log_line(connection);
  if (connection->file >= 0) close(connection->file);
  close(connection->socket);
  connection->socket = -1;
}

static inline void httpd_begin(struct httpd_connection *connection, int socket) {
  connection->socket = socket, connection->file = -1;
  connection->used = connection->written = 0;
  connection->status = 0, connection->sent = 0;
  connection->path[0] = '\0';
}

/* Serve one connection from beginning to end, while other connections wait. The connection ends
 * early if the client closes it.
 */
static inline void httpd_serve(int socket) {
  static struct httpd_connection connection;
  ssize_t count = 1;
  httpd_begin(&connection, socket);
  while (count > 0 && !connection.status) {
    count = read(socket, connection.piece + connection.used, HTTPD_PIECE - 1 - connection.used);
    if (count > 0) connection.used += (size_t)count, httpd_request(&connection);
  }
  if (connection.status) do {
      count = write(socket, connection.piece, connection.used);
    } while (count == (ssize_t)connection.used && httpd_piece(&connection));
  httpd_close(&connection);
}

static inline _Noreturn void httpd_fork(int listener) {
  for (;;) {
    int socket = net_accept(listener);
    pid_t child = fork();
    if (child == 0) {
      close(listener);
      httpd_serve(socket);
      _exit(0);
    }
    if (child < 0) p5w_fail("fork");
    close(socket);
    while (waitpid(-1, NULL, WNOHANG) > 0) continue;
  }
}

static inline _Noreturn void httpd_prefork(int listener, long processes) {
  for (long i = 1; i < processes; i++) {
    pid_t child = fork();
    if (child < 0) p5w_fail("fork");
    if (child == 0) break;
  }
  for (;;) httpd_serve(net_accept(listener));
}

/* Continue with a connection that is ready. Returns whether the connection is finished. */
static inline int httpd_step(struct httpd_connection *connection) {
  ssize_t count;
  if (!connection->status) {
    count = read(connection->socket, connection->piece + connection->used,
                 HTTPD_PIECE - 1 - connection->used);
    if (count <= 0) return 1;
    connection->used += (size_t)count;
    if (!httpd_request(connection)) return 0;
  }
  count = write(connection->socket, connection->piece + connection->written,
                connection->used - connection->written);
  if (count < 0) return errno != EAGAIN;
  connection->written += (size_t)count;
  return connection->written == connection->used && !httpd_piece(connection);
}

static inline _Noreturn void httpd_event(int listener) {
  static struct httpd_connection connections[HTTPD_CONNECTIONS];
  struct pollfd ready[HTTPD_CONNECTIONS + 1];
  for (int i = 0; i < HTTPD_CONNECTIONS; i++) connections[i].socket = -1;
  for (;;) {
    int idle = -1;
    for (int i = 0; i < HTTPD_CONNECTIONS; i++) {
      ready[i].fd = connections[i].socket;
      ready[i].events = connections[i].status ? POLLOUT : POLLIN;
      if (connections[i].socket < 0) idle = i;
    }
    ready[HTTPD_CONNECTIONS].fd = idle < 0 ? -1 : listener;
    ready[HTTPD_CONNECTIONS].events = POLLIN;
    if (poll(ready, HTTPD_CONNECTIONS + 1, -1) < 0) p5w_fail("poll");
    for (int i = 0; i < HTTPD_CONNECTIONS; i++)
      if (ready[i].fd >= 0 && ready[i].revents && httpd_step(&connections[i]))
        httpd_close(&connections[i]);
    if (ready[HTTPD_CONNECTIONS].fd < 0 || !ready[HTTPD_CONNECTIONS].revents) continue;
    int socket = net_accept(listener);
    if (fcntl(socket, F_SETFL, O_NONBLOCK) != 0) p5w_fail("accept");
    httpd_begin(&connections[idle], socket);
  }
}

/* Serve the current directory until a signal ends the process group. */
static inline _Noreturn void httpd_run(int listener, enum httpd_structure structure, long processes,
                                       const char *log) {
  signal(SIGPIPE, SIG_IGN);
  httpd_log = open(log, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (httpd_log < 0) p5w_fail(log);
  if (structure == HTTPD_FORK) httpd_fork(listener);
  if (structure == HTTPD_PREFORK) httpd_prefork(listener, processes);
  httpd_event(listener);
}

#endif
