// SPDX-License-Identifier: MIT
/*
 * ipc-net: a client sends a message to an echo server and gets it back (wpi92 section 4.7:
 * low-level IPC by sockets, over Ethernet and local). Phase = bytes of the message. A bracket
 * contains `transactions` messages with their answers. The workload `ipc` measures mechanisms
 * within one system.
 *
 *   tcp   one connection for all messages; small messages are sent at once
 *   udp   a datagram for each message; a lost datagram is sent again after a second
 *
 * The client changes the first and the last byte each time and checks them in every answer. It
 * checks the whole last answer.
 */
#include "net.h"

#define BYTES_MAX 8192

enum mechanism { TCP, UDP };
static const char *const mechanisms[] = {"tcp", "udp", NULL};

static long mechanism, peer;
static char request[BYTES_MAX], answer[BYTES_MAX];

static void take(int from, long size) {
  if (mechanism == TCP) {
    net_read(from, answer, size, "ipc: receive");
    return;
  }
  ssize_t count = read(from, answer, sizeof(answer));
  if (count < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return; /* lost */
  if (count != size) net_wrong("ipc: bytes of the answer", (long)count, size);
}

static int is_right(long size) {
  return answer[0] == request[0] && answer[size - 1] == request[size - 1];
}

/* Not inlined, so that the warm-up fetches the same code as the measurement. */
static __attribute__((noinline)) void transact(int to, long size, long first, long count) {
  for (long i = first; i < first + count; i++) {
    int tries = mechanism == UDP ? 5 : 1;
    request[0] = (char)i;
    request[size - 1] = (char)(i + 1);
    do {
      net_write(to, request, size, "ipc: send");
      take(to, size);
    } while (!is_right(size) && --tries > 0);
    if (is_right(size)) continue;
    fprintf(stderr, "ipc: transaction %ld: not the answer to it\n", i);
    exit(P5W_EXIT_FAILED);
  }
}

/* The echo server of this system. It ends when the client closes, or at an empty datagram. */
static _Noreturn void serve(int socket) {
  struct sockaddr_in client;
  if (mechanism == TCP) {
    int from = net_accept(socket);
    net_no_delay(from);
    for (ssize_t count; (count = read(from, answer, sizeof(answer))) != 0;) {
      if (count < 0) p5w_fail("ipc: server");
      net_write(from, answer, count, "ipc: server");
    }
    _exit(0);
  }
  for (;;) {
    socklen_t length = sizeof(client);
    ssize_t count = recvfrom(socket, answer, sizeof(answer), 0, (struct sockaddr *)&client, &length);
    if (count < 0) p5w_fail("ipc: server");
    if (count == 0) _exit(0); /* the end */
    if (sendto(socket, answer, (size_t)count, 0, (struct sockaddr *)&client, length) != count)
      p5w_fail("ipc: server");
  }
}

static void measure(long size, long warmup, long transactions) {
  const struct timeval patience = {.tv_sec = 1};
  struct sockaddr_in address = net_address(NET_REMOTE_ADDRESS, NET_ECHO);
  pid_t child = 0;
  data_fill(request, size, 0, (uint32_t)size);
  memset(answer, 0, sizeof(answer));
  if (peer == NET_LOOPBACK) {
    int own = mechanism == TCP ? net_listen(0, 1, &address) : loopback_bind(SOCK_DGRAM, &address);
    child = fork();
    if (child == 0) serve(own);
    close(own);
  }
  int to = socket(AF_INET, mechanism == TCP ? SOCK_STREAM : SOCK_DGRAM, 0);
  if (to < 0 || connect(to, (struct sockaddr *)&address, sizeof(address)) != 0)
    p5w_fail("ipc: connect");
  if (mechanism == TCP)
    net_no_delay(to);
  else if (setsockopt(to, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0)
    p5w_fail("ipc: time-out");
  p5w_await_tick();
  transact(to, size, 0, warmup);
  p5_begin((uint32_t)size);
  transact(to, size, warmup, transactions);
  p5_end((uint32_t)size);
  if (child && mechanism == UDP && send(to, "", 0, 0) != 0) p5w_fail("ipc: end");
  close(to);
  if (child) child_wait(child);
  if (memcmp(answer, request, (size_t)size) != 0) {
    fprintf(stderr, "ipc: %ld bytes: they came back wrong\n", size);
    exit(P5W_EXIT_FAILED);
  }
}

int main(int argc, char **argv) {
  static const long sizes[] = {1, 64, 256, 512, 1024, 1460, 1461, 2048, 4096, 4097, 8192};
  long bytes = 0, transactions = 100, warmup = 5;
  const struct p5w_option options[] = {
      {"mechanism", "tcp or udp", &mechanism, 0, mechanisms},
      {"bytes", "messages of this size only, 1 to 8192; 0: all of them", &bytes, 0, NULL},
      {"transactions", "measured transactions for each size", &transactions, 1, NULL},
      {"warmup", "transactions before the first measured one", &warmup, 0, NULL},
      NET_PEER(peer),
      {0}};
  p5w_start(argc, argv, options);
  if (bytes > BYTES_MAX) {
    fprintf(stderr, "%s: bytes must be at most %d\n", argv[0], BYTES_MAX);
    return P5W_EXIT_USAGE;
  }
  net_up(peer);
  if (bytes) measure(bytes, warmup, transactions);
  for (size_t i = 0; !bytes && i < sizeof(sizes) / sizeof(*sizes); i++)
    measure(sizes[i], warmup, transactions);
  return 0;
}
