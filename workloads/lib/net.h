/* SPDX-License-Identifier: MIT */
/*
 * The network of the network benchmarks. The parameter `peer` selects the other side:
 *
 *   loopback   a process of this system, over the loopback interface
 *   remote     the remote host at the other end of the Ethernet, which is part of the simulation
 *              (docs/evidence/network-benchmarks.md). A program uses the remote host only after the
 *              program has found the engine. It therefore never touches a real network
 *
 * The contents of the data depend on their position in the stream (data.h). The receiver checks
 * every byte, or compares its check sequence with the check sequence that the remote host reports.
 */
#ifndef P5LAB_NET_H
#define P5LAB_NET_H

#include <netinet/tcp.h>
#include <signal.h>
#include <sys/time.h>

#include "card.h"
#include "child.h"
#include "data.h"
#include "loopback.h"

enum net_peer { NET_LOOPBACK, NET_REMOTE };
static const char *const net_peers[] = {"loopback", "remote", NULL};

#define NET_PEER(peer) \
  {"peer", "a process here, or the remote host", &(peer), 0, net_peers}

/* Ports of the remote host's services. */
#define NET_ECHO 7
#define NET_SINK 9
#define NET_SOURCE 19
#define NET_CONTROL 7000

#define NET_LINE 1024

/* Bring the interface to this peer up. A network benchmark calls this first after p5w_start(). */
static inline void net_up(long peer) {
  loopback_up();
  if (peer == NET_REMOTE) net_card_up();
}

/* Connect to a port of the peer. */
static inline int net_connect_to(const struct sockaddr_in *address) {
  int made = socket(AF_INET, SOCK_STREAM, 0);
  if (made < 0 || connect(made, (const struct sockaddr *)address, sizeof(*address)) != 0)
    p5w_fail("connect");
  return made;
}

static inline int net_connect(const char *host, int port) {
  struct sockaddr_in address = net_address(host, port);
  return net_connect_to(&address);
}

/* Open a socket that listens on all addresses of this system at `port`, or at a free port if `port`
 * is 0. Processes of this system connect to *address.
 */
static inline int net_listen(int port, int backlog, struct sockaddr_in *address) {
  int made = socket(AF_INET, SOCK_STREAM, 0), on = 1;
  socklen_t length = sizeof(*address);
  *address = net_address("0.0.0.0", port);
  if (made < 0 || setsockopt(made, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
      bind(made, (struct sockaddr *)address, sizeof(*address)) != 0 || listen(made, backlog) != 0 ||
      getsockname(made, (struct sockaddr *)address, &length) != 0)
    p5w_fail("listen");
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return made;
}

static inline int net_accept(int listener) {
  int made = accept(listener, NULL, NULL);
  if (made < 0) p5w_fail("accept");
  return made;
}

/* Set the size of the receive buffer; 0: the system's default. Call before connecting. */
static inline void net_receive_buffer(int socket, long bytes) {
  int size = (int)bytes;
  if (bytes > 0 && setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size)) != 0)
    p5w_fail("receive buffer");
}

/* Send small messages at once. */
static inline void net_no_delay(int socket) {
  int on = 1;
  if (setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0) p5w_fail("TCP_NODELAY");
}

/* Send or receive all of `size` bytes, in as many calls as necessary. */
static inline void net_write(int to, const void *from, long size, const char *name) {
  for (const char *at = from; size > 0;) {
    ssize_t count = write(to, at, (size_t)size);
    if (count < 0) p5w_fail(name);
    at += count, size -= count;
  }
}

static inline void net_read(int from, void *to, long size, const char *name) {
  for (char *at = to; size > 0;) {
    errno = EPIPE; /* the connection ends too early */
    ssize_t count = read(from, at, (size_t)size);
    if (count <= 0) p5w_fail(name);
    at += count, size -= count;
  }
}

/* Continue Ethernet's check sequence `before` (0 at the start) with these bytes, as the remote host
 * calculates it (engine/devices/ne2000/check.hh).
 */
static inline uint32_t net_crc(uint32_t before, const void *bytes, long size) {
  const unsigned char *at = bytes;
  uint32_t value = ~before;
  for (; size > 0; size--, at++) {
    value ^= *at;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
  }
  return ~value;
}

static inline _Noreturn void net_wrong(const char *what, long found, long expected) {
  fprintf(stderr, "%s: %ld, not %ld\n", what, found, expected);
  exit(P5W_EXIT_FAILED);
}

/* The server of a benchmark ends when the benchmark ends or gives up, because a run ends only when
 * all its processes have ended.
 */
static pid_t net_server, net_server_owner;

static inline void net_server_stop(void) {
  if (net_server <= 0 || net_server_owner != getpid()) return;
  kill(-net_server, SIGTERM); /* in case the server is a process group */
  kill(net_server, SIGTERM);
}

static inline void net_server_started(pid_t server) {
  static int registered;
  if (server < 0) p5w_fail("fork");
  net_server = server, net_server_owner = getpid();
  if (!registered && atexit(net_server_stop) != 0) p5w_fail("server");
  registered = 1;
}

/* Wait until a server has ended by itself. */
static inline void net_server_wait(void) {
  pid_t server = net_server;
  child_wait(server);
  net_server = 0;
}

/* Send a command line to the remote host and read its answer. A line with a single dot ends the
 * answer. One call sends the whole line. If two calls sent the line, TCP would hold the bytes of
 * the second call until the first bytes are acknowledged. This wait can add 250 ms to a bracket.
 */
static inline void net_control(const char *command, char answer[NET_LINE]) {
  static int control = -1;
  char line[NET_LINE + 1];
  size_t length = 0;
  if (control < 0) control = net_connect(NET_REMOTE_ADDRESS, NET_CONTROL);
  net_write(control, line, snprintf(line, sizeof(line), "%.*s\n", NET_LINE - 1, command), "control");
  answer[0] = '\0';
  while (length < 2 || strcmp(answer + length - 2, ".\n") != 0) {
    errno = EPIPE;
    ssize_t count = read(control, answer + length, NET_LINE - 1 - length);
    if (count <= 0) p5w_fail("control");
    length += (size_t)count;
    answer[length] = '\0';
  }
  if (strncmp(answer, "error", 5) == 0) {
    fprintf(stderr, "remote host: %s: %s", command, answer);
    exit(P5W_EXIT_FAILED);
  }
}

/* The number after `key=` in the line that begins with `name`. A check sequence (key crc) is
 * hexadecimal.
 */
static inline unsigned long net_number(const char *answer, const char *name, const char *key) {
  size_t length = strlen(name), size = strlen(key);
  for (const char *line = answer; *line; line += strcspn(line, "\n"), line += *line != '\0') {
    if (strncmp(line, name, length) != 0 || line[length] != ' ') continue;
    for (const char *at = line + length; *at == ' '; at += 1 + strcspn(at + 1, " \n"))
      if (strncmp(at + 1, key, size) == 0 && at[1 + size] == '=')
        return strtoul(at + size + 2, NULL, strcmp(key, "crc") == 0 ? 16 : 10);
  }
  fprintf(stderr, "remote host: no %s %s in its answer: %s", name, key, answer);
  exit(P5W_EXIT_FAILED);
}

/* Byte number `at` of the source's stream. */
static inline char net_source_byte(long at) { return (char)(at ^ at >> 8 ^ at >> 16); }

#endif
