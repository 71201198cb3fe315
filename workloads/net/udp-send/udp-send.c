// SPDX-License-Identifier: MIT
/*
 * udp-send: datagrams of growing size, sent to a process of this system or to the remote host
 * (lai96 section 9.2 and figure 13: ttcp, 4 MB for each of several sizes). Phase = bytes of a
 * datagram. In a bracket the program sends `kilobytes` KB. The workload udp-bandwidth brackets the
 * receiver instead.
 *
 * A card sends at the rate of its wire, and the sender waits until its own buffer has space.
 * Datagrams to the remote host are lost only if the wire loses frames (net.loss). Datagrams that
 * are still in the buffer when the last call returns are sent after the bracket. These datagrams
 * are few, because the buffer is small and a bracket sends some hundred KB. If the receiver is a
 * process of this system, the receiver's buffer may be full, and then datagrams are lost. If
 * datagrams are lost, the program fails with a message. With lost=yes, the program does not fail.
 */
#include "net.h"

#define DATAGRAM_MAX 8192
#define DATAGRAM_MIN 64
#define SEND_BUFFER (16 << 10) /* before the card; BSD of the time had 9 KB */
#define END 4 /* bytes of the datagrams that end a transfer */
#define ENDS 5

static char datagram[DATAGRAM_MAX];
static long peer, lost;

static void number(long i) { datagram[0] = (char)i, datagram[1] = (char)(i >> 8); }

/* Check the number of datagrams that arrived. It may be too small only if losses are allowed. */
static void check_count(long size, long received, long sent) {
  if (received == sent || (received < sent && lost)) return;
  fprintf(stderr, "udp: %ld of %ld datagrams of %ld bytes came\n", received, sent, size);
  exit(P5W_EXIT_FAILED);
}

/* The other side as a process of this system. */
static _Noreturn void receive(int from, long size, long count) {
  const struct timeval patience = {.tv_sec = 2}; /* if the last datagrams are also lost */
  long received = 0;
  if (setsockopt(from, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0)
    p5w_fail("udp: time-out");
  while (read(from, datagram, sizeof(datagram)) == size) {
    for (long i = 2; i < size; i++)
      if (datagram[i] != (char)(i * 31)) net_wrong("udp: byte", i, -1);
    received++;
  }
  check_count(size, received, count);
  _exit(0);
}

/* Not inlined, so that the warm-up fetches the same code as the measurement. */
static __attribute__((noinline)) void send_some(int to, long size, long first, long count) {
  for (long i = first; i < first + count; i++) {
    number(i);
    if (write(to, datagram, (size_t)size) != size) p5w_fail("udp: send");
  }
}

static void measure(long size, long warmup, long count) {
  struct sockaddr_in address = net_address(NET_REMOTE_ADDRESS, NET_SINK);
  char answer[NET_LINE];
  pid_t child = 0;
  for (long i = 0; i < size; i++) datagram[i] = (char)(i * 31);
  if (peer == NET_REMOTE) {
    net_control("reset", answer);
  } else {
    int from = loopback_bind(SOCK_DGRAM, &address);
    child = fork();
    if (child == 0) receive(from, size, warmup + count);
    close(from);
  }
  int to = socket(AF_INET, SOCK_DGRAM, 0);
  if (to < 0 || connect(to, (struct sockaddr *)&address, sizeof(address)) != 0)
    p5w_fail("udp: connect");
  const int room = SEND_BUFFER;
  if (peer == NET_REMOTE && setsockopt(to, SOL_SOCKET, SO_SNDBUF, &room, sizeof(room)) != 0)
    p5w_fail("udp: send buffer");
  send_some(to, size, 0, warmup);
  p5_begin((uint32_t)size);
  send_some(to, size, warmup, count);
  p5_end((uint32_t)size);
  for (int i = 0; child && i < ENDS; i++) /* the receiver may have ended after the first */
    if (write(to, datagram, END) != END && errno != ECONNREFUSED) p5w_fail("udp: send");
  close(to);
  if (child) {
    child_wait(child);
    return;
  }
  net_control("stats", answer);
  long received = (long)net_number(answer, "sink.udp", "bytes"), all = (warmup + count) * size;
  check_count(size, received / size, received % size ? -1 : warmup + count);
  uint32_t sequence = 0;
  for (long i = 0; i < warmup + count; i++) {
    number(i);
    sequence = net_crc(sequence, datagram, size);
  }
  uint32_t check = (uint32_t)net_number(answer, "sink.udp", "crc");
  if (received == all && check != sequence)
    net_wrong("udp: check of what came", (long)check, (long)sequence);
}

int main(int argc, char **argv) {
  static const char *const allowed[] = {"no", "yes", NULL};
  long kilobytes = 1024, size = 0, warmup = 8;
  const struct p5w_option options[] = {
      {"kilobytes", "measured KB for each size, a multiple of 8", &kilobytes, 8, NULL},
      {"size", "datagrams of this size only, a power of two, 64 to 8192 bytes; 0: all", &size, 0,
       NULL},
      {"warmup", "datagrams before the first measured one", &warmup, 0, NULL},
      {"lost", "whether some may be lost", &lost, 0, allowed},
      NET_PEER(peer),
      {0}};
  p5w_start(argc, argv, options);
  if (kilobytes % (DATAGRAM_MAX >> 10) || (size && (size < DATAGRAM_MIN || size & (size - 1))) ||
      size > DATAGRAM_MAX) {
    fprintf(stderr, "%s: kilobytes must be a multiple of %d, size a power of two, %d to %d\n",
            argv[0], DATAGRAM_MAX >> 10, DATAGRAM_MIN, DATAGRAM_MAX);
    return P5W_EXIT_USAGE;
  }
  net_up(peer);
  for (long each = size ? size : DATAGRAM_MIN; each <= (size ? size : DATAGRAM_MAX); each *= 2)
    measure(each, warmup, kilobytes * 1024 / each);
  return 0;
}
