// SPDX-License-Identifier: MIT
/*
 * udp-bandwidth: a child sends datagrams, its parent receives them over loopback (lai96 section 9.2
 * and figure 13: ttcp, 4 MB for each of several sizes). Phase = bytes of a datagram. In a
 * bracket the parent receives `kilobytes` KB. The child ends a transfer with datagrams of 4 bytes,
 * as ttcp does.
 *
 * UDP may lose datagrams if the receiver's buffer is full. Each datagram has a number. The program
 * fails with a message if a datagram is missing or out of order.
 */
#include <sys/time.h>

#include "child.h"
#include "loopback.h"
#include "stream.h"

#define DATAGRAM_MAX 8192
#define END 4 /* bytes of the datagrams that end a transfer */
#define ENDS 5

static unsigned char datagram[DATAGRAM_MAX];

static _Noreturn void send_all(const struct sockaddr_in *address, long size, long count) {
  int to = socket(AF_INET, SOCK_DGRAM, 0);
  if (to < 0 || connect(to, (const struct sockaddr *)address, sizeof(*address)) != 0)
    p5w_fail("udp: connect");
  stream_fill(datagram, size);
  for (uint32_t i = 0; i < (uint32_t)count; i++) {
    stream_number(datagram, i);
    if (write(to, datagram, (size_t)size) != size) p5w_fail("udp: send");
  }
  for (int i = 0; i < ENDS; i++)
    if (write(to, datagram, END) != END) p5w_fail("udp: send");
  _exit(0);
}

/* Receive datagrams of this size, numbered from `first` on, until the end of the transfer or until
 * a datagram is out of order. Returns the number of datagrams in order.
 */
static __attribute__((noinline)) long receive(int from, long size, uint32_t first, long count) {
  for (long i = 0; i < count; i++) {
    uint32_t number = first + (uint32_t)i;
    if (read(from, datagram, sizeof(datagram)) != size) return i;
    if (memcmp(datagram, &number, sizeof(number)) != 0) return i;
  }
  return count;
}

static void measure(long size, long warmup, long count) {
  struct sockaddr_in address;
  int from = loopback_bind(SOCK_DGRAM, &address);
  const struct timeval patience = {.tv_sec = 2}; /* if the last datagrams are also lost */
  if (setsockopt(from, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)) != 0)
    p5w_fail("udp: time-out");
  pid_t child = fork();
  if (child < 0) p5w_fail("fork");
  if (child == 0) send_all(&address, size, warmup + count);
  long received = receive(from, size, 0, warmup);
  p5_begin((uint32_t)size);
  received += receive(from, size, (uint32_t)warmup, count);
  p5_end((uint32_t)size);
  if (received != warmup + count) {
    fprintf(stderr, "udp: %ld of %ld datagrams of %ld bytes came in turn\n", received, warmup + count,
            size);
    exit(P5W_EXIT_FAILED);
  }
  stream_check("udp", datagram, size, (uint32_t)(received - 1));
  child_wait(child);
  close(from);
}

int main(int argc, char **argv) {
  long kilobytes = 1024, size = 0, warmup = 8;
  const struct p5w_option options[] = {
      {"kilobytes", "measured KB for each size, a multiple of 8", &kilobytes, 8, NULL},
      {"size", "datagrams of this size only, a power of two, 64 to 8192 bytes; 0: all", &size, 0,
       NULL},
      {"warmup", "datagrams before the first measured one", &warmup, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  if (kilobytes % (DATAGRAM_MAX >> 10) || (size && (size < 64 || size & (size - 1))) ||
      size > DATAGRAM_MAX) {
    fprintf(stderr, "%s: kilobytes must be a multiple of %d, size a power of two, 64 to %d\n",
            argv[0], DATAGRAM_MAX >> 10, DATAGRAM_MAX);
    return P5W_EXIT_USAGE;
  }
  loopback_up();
  for (long each = size ? size : 256; each <= (size ? size : DATAGRAM_MAX); each *= 2)
    measure(each, warmup, kilobytes * 1024 / each);
  return 0;
}
