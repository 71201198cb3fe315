// SPDX-License-Identifier: MIT
/*
 * wire: sends bytes to the remote host's sink, receives bytes from its source, and exchanges
 * datagrams with its echo. Phases 0, 1 and 2 bracket these transfers. Every byte is checked, by
 * this program or by the check sequence that the remote host calculates.
 */
#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "p5w.h"

#define ECHO 7
#define SINK 9
#define SOURCE 19
#define CONTROL 7000
#define PIECE 8192
#define TRIES 20

static char piece[PIECE], answer[PIECE];

static _Noreturn void wrong(const char *what) {
  fprintf(stderr, "%s\n", what);
  exit(P5W_EXIT_FAILED);
}

static struct sockaddr_in address(const char *host, int port) {
  struct sockaddr_in made = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
  made.sin_addr.s_addr = inet_addr(host);
  return made;
}

static void set(int any, unsigned long request, const char *host) {
  struct ifreq interface = {.ifr_name = "eth0"};
  struct sockaddr_in value = address(host, 0);
  memcpy(&interface.ifr_addr, &value, sizeof(value));
  if (ioctl(any, request, &interface) != 0) p5w_fail("eth0");
}

static void up(void) {
  struct ifreq interface = {.ifr_name = "eth0"};
  int any = socket(AF_INET, SOCK_DGRAM, 0);
  if (any < 0 || ioctl(any, SIOCGIFFLAGS, &interface) != 0) {
    fprintf(stderr, "eth0: no network card\n");
    exit(P5W_EXIT_UNAVAILABLE);
  }
  set(any, SIOCSIFADDR, "10.0.0.2");
  set(any, SIOCSIFNETMASK, "255.255.255.0");
  interface.ifr_flags |= IFF_UP | IFF_RUNNING;
  if (ioctl(any, SIOCSIFFLAGS, &interface) != 0) p5w_fail("SIOCSIFFLAGS");
  close(any);
}

static int connected(int kind, int port) {
  struct sockaddr_in there = address("10.0.0.1", port);
  int made = socket(AF_INET, kind, 0);
  if (made < 0 || connect(made, (struct sockaddr *)&there, sizeof(there)) != 0) p5w_fail("connect");
  return made;
}

static void put(int to, const char *from, long size) {
  for (long count; size > 0; from += count, size -= count)
    if ((count = write(to, from, (size_t)size)) <= 0) p5w_fail("write");
}

static uint32_t check(uint32_t value, const char *at, long size) {
  for (value = ~value; size-- > 0; at++) {
    value ^= (unsigned char)*at;
    for (int bit = 0; bit < 8; bit++) value = value >> 1 ^ (value & 1 ? 0xedb88320u : 0);
  }
  return ~value;
}

static void fill(long from) {
  for (long i = 0; i < PIECE; i++) {
    long at = from + i;
    piece[i] = (char)(at ^ at >> 8 ^ at >> 16);
  }
}

static void command(int control, const char *line) {
  long length = 0;
  put(control, line, (long)strlen(line));
  while (length < 2 || strcmp(answer + length - 2, ".\n") != 0) {
    long count = read(control, answer + length, (size_t)(PIECE - 1 - length));
    if (count <= 0) p5w_fail("control");
    answer[length += count] = '\0';
  }
}

static void send_all(int control, long bytes) {
  char expected[100], byte;
  uint32_t sum = 0;
  command(control, "reset\n");
  for (long at = 0; at < bytes; at += PIECE) {
    fill(at);
    sum = check(sum, piece, bytes - at < PIECE ? bytes - at : PIECE);
  }
  p5_begin(0);
  int sink = connected(SOCK_STREAM, SINK);
  for (long at = 0; at < bytes; at += PIECE) {
    fill(at);
    put(sink, piece, bytes - at < PIECE ? bytes - at : PIECE);
  }
  shutdown(sink, SHUT_WR);
  if (read(sink, &byte, 1) != 0) p5w_fail("sink"); /* it closes after the last byte */
  p5_end(0);
  close(sink);
  command(control, "stats\n");
  snprintf(expected, sizeof(expected), "sink.tcp bytes=%ld pieces=1 crc=%08x\n", bytes, sum);
  if (!strstr(answer, expected)) wrong(answer);
}

static void receive_all(long bytes) {
  char line[20];
  long at = 0, count;
  p5_begin(1);
  int source = connected(SOCK_STREAM, SOURCE);
  snprintf(line, sizeof(line), "%ld\n", bytes);
  put(source, line, (long)strlen(line));
  while ((count = read(source, answer, PIECE)) > 0) {
    for (long i = 0; i < count; i++, at++)
      if (answer[i] != (char)(at ^ at >> 8 ^ at >> 16)) wrong("source: another byte");
  }
  p5_end(1);
  if (count < 0 || at != bytes) wrong("source: another number of bytes");
  close(source);
}

static void echoes(long datagrams) {
  int echo = connected(SOCK_DGRAM, ECHO);
  struct timeval patience = {.tv_usec = 200000};
  setsockopt(echo, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
  fill(0);
  p5_begin(2);
  for (long i = 0; i < datagrams; i++) {
    long size = 1 + i * 977 % PIECE, got; /* most datagrams have fragments */
    piece[0] = (char)i; /* late answers belong to other datagrams */
    for (int tries = 0;; tries++) {
      if (tries == TRIES) wrong("echo: no answer");
      if (write(echo, piece, (size_t)size) != size) p5w_fail("echo");
      do got = read(echo, answer, PIECE);
      while (got > 0 && answer[0] != piece[0]);
      if (got > 0) break;
    }
    if (got != size || memcmp(piece, answer, (size_t)size) != 0) wrong("echo: something else");
  }
  p5_end(2);
  close(echo);
}

int main(int argc, char **argv) {
  long bytes = 100000, datagrams = 0;
  const struct p5w_option options[] = {
      {"bytes", "bytes each way over TCP", &bytes, 1, NULL},
      {"datagrams", "datagrams there and back, sent again where no answer comes", &datagrams, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  up();
  int control = connected(SOCK_STREAM, CONTROL);
  send_all(control, bytes);
  receive_all(bytes);
  echoes(datagrams);
  return 0;
}
