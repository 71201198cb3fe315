// SPDX-License-Identifier: MIT
/*
 * sftp: send a file of 1 MB over a TCP connection to or from a server process (wpi92 section 4.3
 * and figure 1: transport buffers of 64 B to 1 MB, two machines). Phase = bytes of the transport
 * buffer, which is the size of each call on both sides. A bracket contains one file, from the
 * client's request to the end of the server's work on this file.
 *
 *   direction=put   the client sends, the server writes the file
 *   direction=get   the server reads the file and sends, the client receives
 *
 * The server is always a process of this system. With peer=loopback the client is another process
 * of this system and has the contents of the file in memory. With peer=remote the client is on the
 * remote host.
 */
#include "net.h"

#define PORT 2100
#define BUFFER_MAX (1 << 20)
#define REQUEST 32 /* bytes of the request: a word, a number, and spaces */

enum direction { PUT, GET };
static const char *const directions[] = {"put", "get", NULL};

static const char directory[] = "p5lab-sftp", name[] = "file";
static long peer, direction, kilobytes = 1024, iterations = 1, warmup = 1;
static char *buffer; /* buffer of a call */
static char *whole;  /* contents of the file */

static long bytes(void) { return kilobytes << 10; }

static void make_file(void) {
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) p5w_fail(name);
  net_write(file, whole, bytes(), name);
  if (close(file) != 0) p5w_fail(name);
}

static void check_file(void) {
  int file = open(name, O_RDONLY);
  char more;
  if (file < 0) p5w_fail(name);
  for (long at = 0; at < bytes(); at += 4096) {
    long size = bytes() - at < 4096 ? bytes() - at : 4096;
    data_read(file, buffer, size, name);
    data_check(buffer, size, at, 0, name);
  }
  if (read(file, &more, 1) != 0) net_wrong("file: bytes", bytes() + 1, bytes());
  close(file);
}

/* --- the server */

static void take_file(int from, long size) {
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (file < 0) p5w_fail(name);
  for (long left = bytes(); left > 0;) {
    ssize_t count = read(from, buffer, (size_t)(size < left ? size : left));
    if (count <= 0) p5w_fail("sftp: server");
    data_write(file, buffer, count, name);
    left -= count;
  }
  if (close(file) != 0) p5w_fail(name);
}

static void give_file(int to, long size) {
  int file = open(name, O_RDONLY);
  if (file < 0) p5w_fail(name);
  for (ssize_t count; (count = read(file, buffer, (size_t)size)) != 0;) {
    if (count < 0) p5w_fail(name);
    net_write(to, buffer, count, "sftp: server");
  }
  close(file);
}

/* One file for each connection. The last `iterations` files are measured. */
static _Noreturn void serve(int listener, long size) {
  int enabled = p5_marker_enabled;
  for (long i = 0; i < warmup + iterations; i++) {
    char request[REQUEST + 1] = "", expected[REQUEST + 1], none;
    p5_marker_enabled = i < warmup ? 0 : enabled;
    if (direction == PUT) unlink(name);
    int client = net_accept(listener);
    net_read(client, request, REQUEST, "sftp: request");
    p5_begin((uint32_t)size);
    if (direction == PUT)
      take_file(client, size);
    else
      give_file(client, size);
    shutdown(client, SHUT_WR);
    errno = EPROTO;
    if (read(client, &none, 1) != 0) p5w_fail("sftp: end of a file");
    p5_end((uint32_t)size);
    snprintf(expected, sizeof(expected), "%-*ld", REQUEST, bytes());
    if (strcmp(request, expected) != 0) net_wrong("sftp: asked for", atol(request), bytes());
    close(client);
    if (direction == PUT) check_file();
  }
  _exit(0);
}

/* --- the client as a process of this system */

static void put_file(int to, long size) {
  for (long at = 0; at < bytes(); at += size)
    net_write(to, whole + at, bytes() - at < size ? bytes() - at : size, "sftp: client");
  char none;
  errno = EPROTO;
  if (shutdown(to, SHUT_WR) != 0 || read(to, &none, 1) != 0) p5w_fail("sftp: client");
}

static void get_file(int from, long size) {
  long at = 0;
  for (ssize_t count; (count = read(from, buffer, (size_t)size)) != 0; at += count) {
    if (count < 0) p5w_fail("sftp: client");
    if (at + count > bytes() || memcmp(buffer, whole + at, (size_t)count) != 0)
      data_wrong("sftp: received", at);
  }
  if (at != bytes()) net_wrong("sftp: bytes received", at, bytes());
}

static void fetch(const struct sockaddr_in *server, long size) {
  char request[REQUEST + 1];
  int to = net_connect_to(server);
  snprintf(request, sizeof(request), "%-*ld", REQUEST, bytes());
  net_write(to, request, REQUEST, "sftp: client");
  if (direction == PUT)
    put_file(to, size);
  else
    get_file(to, size);
  close(to);
}

/* The client on the remote host. It reports the data that it received. */
static void fetch_remotely(long size) {
  char line[NET_LINE];
  snprintf(line, sizeof(line), "run sftp port=%d direction=%s bytes=%ld buffer=%ld", PORT,
           directions[direction], bytes(), size);
  net_control(line, line);
  long moved = (long)net_number(line, "sftp", "bytes");
  uint32_t check = net_crc(0, whole, bytes());
  if (moved != bytes()) net_wrong("sftp: bytes moved", moved, bytes());
  uint32_t found = (uint32_t)net_number(line, "sftp", "crc");
  if (found != check) net_wrong("sftp: check of the bytes", (long)found, (long)check);
}

static void measure(long size) {
  struct sockaddr_in address;
  int listener = net_listen(peer == NET_REMOTE ? PORT : 0, 4, &address);
  pid_t child = fork();
  if (child == 0) serve(listener, size);
  net_server_started(child);
  close(listener);
  for (long i = 0; i < warmup + iterations; i++) {
    if (peer == NET_LOOPBACK)
      fetch(&address, size);
    else
      fetch_remotely(size);
  }
  net_server_wait();
}

int main(int argc, char **argv) {
  static const long sizes[] = {64,   128,  256,   512,   1024,   2048,
                               4096, 8192, 16384, 65536, 1048576};
  long size = 0, filesystem = DATA_DISK;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"kilobytes", "KB of the file", &kilobytes, 1, NULL},
      {"buffer", "transport buffers of this size only, at most 1 MB; 0: 64 bytes to 1 MB", &size, 0,
       NULL},
      {"direction", "which way the file goes", &direction, 0, directions},
      DATA_FILESYSTEM(filesystem),
      NET_PEER(peer),
      {0}};
  p5w_start(argc, argv, options);
  if (size > BUFFER_MAX) {
    fprintf(stderr, "%s: buffer must be at most %d\n", argv[0], BUFFER_MAX);
    return P5W_EXIT_USAGE;
  }
  net_up(peer);
  buffer = data_buffer(BUFFER_MAX);
  whole = data_buffer(bytes());
  data_fill(whole, bytes(), 0, 0);
  data_mount(filesystem);
  data_enter(directory);
  make_file();
  data_sync();
  if (size) measure(size);
  for (size_t i = 0; !size && i < sizeof(sizes) / sizeof(*sizes); i++) measure(sizes[i]);
  check_file();
  if (unlink(name) != 0) p5w_fail(name);
  data_leave(directory);
  return 0;
}
