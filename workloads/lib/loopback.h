/* SPDX-License-Identifier: MIT */
/*
 * The loopback network interface, for benchmarks of protocols without a wire. In the guests, this
 * interface is down at first. When a program brings the interface up, the kernel gives it the
 * address 127.0.0.1.
 */
#ifndef P5LAB_LOOPBACK_H
#define P5LAB_LOOPBACK_H

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p5w.h"

static inline _Noreturn void loopback_missing(const char *what) {
  fprintf(stderr, "%s: %s: needs the Internet protocols over loopback\n", what, strerror(errno));
  exit(P5W_EXIT_UNAVAILABLE);
}

/* Bring the interface up if it is down. Exits with P5W_EXIT_UNAVAILABLE if the system has no
 * loopback interface.
 */
static inline void loopback_up(void) {
#ifdef SIOCSIFFLAGS
  struct ifreq interface = {.ifr_name = "lo"};
  int any = socket(AF_INET, SOCK_DGRAM, 0);
  if (any < 0) loopback_missing("socket");
  if (ioctl(any, SIOCGIFFLAGS, &interface) != 0) loopback_missing("lo");
  if (!(interface.ifr_flags & IFF_UP)) {
    interface.ifr_flags |= IFF_UP;
    if (ioctl(any, SIOCSIFFLAGS, &interface) != 0) loopback_missing("lo");
  }
  close(any);
#endif
}

/* Open a socket of this type at a free port of loopback. Writes its address to *address. */
static inline int loopback_bind(int type, struct sockaddr_in *address) {
  socklen_t length = sizeof(*address);
  memset(address, 0, sizeof(*address));
  address->sin_family = AF_INET;
  address->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  int made = socket(AF_INET, type, 0);
  if (made < 0 || bind(made, (struct sockaddr *)address, sizeof(*address)) != 0 ||
      getsockname(made, (struct sockaddr *)address, &length) != 0)
    p5w_fail("loopback");
  return made;
}

#endif
