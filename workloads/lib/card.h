/* SPDX-License-Identifier: MIT */
/*
 * The guest's network card and the remote host's file server, for net.h and data.h. A program uses
 * a card only after it has found the engine. The program therefore never touches a real network.
 */
#ifndef P5LAB_CARD_H
#define P5LAB_CARD_H

#include <arpa/inet.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "p5w.h"

#define NET_INTERFACE "eth0"
#define NET_OWN_ADDRESS "10.0.0.2"
#define NET_REMOTE_ADDRESS "10.0.0.1"
#define NET_MASK "255.255.255.0"

static inline _Noreturn void net_missing(const char *why) {
  fprintf(stderr, NET_INTERFACE ": %s\n", why);
  exit(P5W_EXIT_UNAVAILABLE);
}

static inline struct sockaddr_in net_address(const char *host, int port) {
  struct sockaddr_in address;
  memset(&address, 0, sizeof(address));
  address.sin_family = AF_INET;
  address.sin_port = htons((uint16_t)port);
  address.sin_addr.s_addr = inet_addr(host);
  return address;
}

#if defined(__linux__) && !defined(P5LAB_NATIVE)
static inline void net_set(int any, unsigned long request, const char *address) {
  struct ifreq interface = {.ifr_name = NET_INTERFACE};
  struct sockaddr_in value = net_address(address, 0);
  memcpy(&interface.ifr_addr, &value, sizeof(value));
  if (ioctl(any, request, &interface) != 0) net_missing(strerror(errno));
}

/* Give the card its address and switch it on. Exits with P5W_EXIT_UNAVAILABLE if there is no card.
 */
static inline void net_card_up(void) {
  struct ifreq interface = {.ifr_name = NET_INTERFACE};
  int any = socket(AF_INET, SOCK_DGRAM, 0);
  if (!p5_marker_enabled) net_missing("the remote host is part of the simulation, and this is none");
  if (any < 0 || ioctl(any, SIOCGIFFLAGS, &interface) != 0)
    net_missing("this system has no network card");
  net_set(any, SIOCSIFADDR, NET_OWN_ADDRESS);
  net_set(any, SIOCSIFNETMASK, NET_MASK);
  interface.ifr_flags |= IFF_UP | IFF_RUNNING;
  if (ioctl(any, SIOCSIFFLAGS, &interface) != 0) net_missing(strerror(errno));
  close(any);
}
#else
static inline void net_card_up(void) {
  net_missing("the remote host is part of the simulation, and this is none");
}
#endif

#if defined(__linux__) && !defined(P5LAB_NATIVE)
#include <sys/mount.h>

/* Mount a tree of the remote host's file server. Returns NULL, or the reason why that is
 * impossible. The kernel itself executes the mount protocol.
 */
static inline const char *card_mount(const char *tree, const char *place) {
  static const char options[] =
      "vers=2,proto=udp,addr=" NET_REMOTE_ADDRESS
      ",port=2049,mountport=2049,mountproto=udp,nolock,sec=sys";
  char source[64];
  net_card_up();
  snprintf(source, sizeof(source), NET_REMOTE_ADDRESS ":/%s", tree);
  return mount(source, place, "nfs", 0, options) == 0 ? NULL : strerror(errno);
}
#endif

#endif
