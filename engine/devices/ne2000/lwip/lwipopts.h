// SPDX-License-Identifier: MIT
// How is lwIP configured as the TCP/IP stack of the remote host? The configuration has only IPv4,
// no threads and no sockets. The buffers are as large as on a workstation of 1995 with much memory.
// A transfer is therefore limited by the guest, the wire or the host's processor
// (docs/concepts/network.md).
#ifndef P5NET_LWIPOPTS_H
#define P5NET_LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_NETCONN 0
#define LWIP_SOCKET 0
#define LWIP_IPV4 1
#define LWIP_IPV6 0
#define LWIP_DHCP 0
#define LWIP_ACD 0
#define LWIP_AUTOIP 0
#define LWIP_IGMP 0
#define LWIP_DNS 0
#define LWIP_STATS 0
#define LWIP_SINGLE_NETIF 1

// lwIP allocates memory with malloc(). To exhaust the memory of the process, a guest must send as
// many bytes as the memory holds.
#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 1
#define MEM_ALIGNMENT 8
#define MEM_SIZE (64 * 1024 * 1024)
#define MEMP_NUM_TCP_SEG 8192  // lwIP only compares it with TCP_SND_QUEUELEN: no limit here

// While ARP requests an address, all packets for this address wait, not only the last packet.
#define ARP_QUEUEING 1
#define ARP_QUEUE_LEN 64
#define ETHARP_TRUST_IP_MAC 0
#define ETHARP_SUPPORT_STATIC_ENTRIES 0

// Datagrams of up to 64 KB arrive in fragments (NFS over UDP), several at a time.
#define IP_REASSEMBLY 1
#define IP_FRAG 1
#define IP_REASS_MAX_PBUFS 1024
#define MEMP_NUM_REASSDATA 32

// A segment has 1460 bytes. The window is the largest whole number of segments that fits without
// window scaling (RFC 793). There are no time stamps and no SACK, because few systems of 1995 had
// them.
#define TCP_MSS 1460
#define TCP_WND (44 * TCP_MSS)
#define TCP_SND_BUF (44 * TCP_MSS)
#define TCP_SND_QUEUELEN (4 * 44)
#define TCP_SNDLOWAT (2 * TCP_MSS)
#define TCP_LISTEN_BACKLOG 1
#define TCP_DEFAULT_LISTEN_BACKLOG 128
#define LWIP_TCP_TIMESTAMPS 0
#define LWIP_TCP_SACK_OUT 0
#define TCP_QUEUE_OOSEQ 1

#endif
