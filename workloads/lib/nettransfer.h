/* SPDX-License-Identifier: MIT */
/*
 * One transfer over one TCP connection (net.h). The program sends to the peer's sink, or receives
 * from the peer's source. Each call moves one buffer. The sink receives the data of data.h with key
 * 0. A sink process of this system checks each sector's mark and the whole last buffer. The remote
 * host reports the number of bytes and their check sequence. A receiver of the source's stream
 * checks one byte of each sector and the whole last buffer.
 */
#ifndef P5LAB_NETTRANSFER_H
#define P5LAB_NETTRANSFER_H

#include "net.h"

enum net_direction { NET_SEND, NET_RECEIVE };
static const char *const net_directions[] = {"send", "receive", NULL};

struct net_transfer {
  long peer, direction;
  long bytes;          /* bytes of the whole transfer */
  long buffer;         /* bytes of each call, a multiple of DATA_SECTOR */
  long receive_buffer; /* bytes; 0: the system chooses */
  char *memory;        /* the buffer of a call */
  uint32_t check;      /* net_crc() of all bytes; known after net_transfer_new() */
};

static inline long net_transfer_size(const struct net_transfer *transfer, long at) {
  long left = transfer->bytes - at;
  return transfer->buffer < left ? transfer->buffer : left;
}

/* Make the buffer and the check sequence of a transfer. Only this function fills the buffer. */
static inline void net_transfer_new(struct net_transfer *transfer) {
  if (transfer->buffer % DATA_SECTOR != 0) {
    fprintf(stderr, "the buffer must be a multiple of %d\n", DATA_SECTOR);
    exit(P5W_EXIT_USAGE);
  }
  transfer->memory = data_buffer(transfer->buffer);
  transfer->check = 0;
  for (long at = 0; at < transfer->bytes && transfer->peer == NET_REMOTE; at += transfer->buffer) {
    long size = net_transfer_size(transfer, at);
    data_fill(transfer->memory, size, at, 0);
    transfer->check = net_crc(transfer->check, transfer->memory, size);
  }
  data_fill(transfer->memory, transfer->buffer, 0, 0);
}

static inline void net_transfer_send(const struct net_transfer *transfer, int to) {
  for (long at = 0; at < transfer->bytes; at += transfer->buffer) {
    long size = net_transfer_size(transfer, at);
    data_mark(transfer->memory, size, at, 0);
    net_write(to, transfer->memory, size, "send");
  }
}

/* The source, as a process of this system. */
static inline void net_transfer_source(const struct net_transfer *transfer, int to) {
  for (long at = 0; at < transfer->bytes; at += transfer->buffer) {
    long size = net_transfer_size(transfer, at);
    for (long i = 0; i < size; i++) transfer->memory[i] = net_source_byte(at + i);
    net_write(to, transfer->memory, size, "send");
  }
}

static inline void net_transfer_receive(const struct net_transfer *transfer, int from) {
  for (long at = 0; at < transfer->bytes; at += transfer->buffer) {
    long size = net_transfer_size(transfer, at);
    net_read(from, transfer->memory, size, "receive");
    if (transfer->direction == NET_SEND)
      data_check_marks(transfer->memory, size, at, 0, "received");
    else
      for (long i = 0; i < size; i += DATA_SECTOR)
        if (transfer->memory[i] != net_source_byte(at + i)) data_wrong("received", at + i);
  }
}

/* Check the bytes of the last call, and check that no more bytes follow. */
static inline void net_transfer_check(const struct net_transfer *transfer, int from) {
  long last = (transfer->bytes - 1) / transfer->buffer * transfer->buffer;
  char more;
  if (transfer->direction == NET_SEND)
    data_check(transfer->memory, transfer->bytes - last, last, 0, "received");
  else
    for (long i = last; i < transfer->bytes; i++)
      if (transfer->memory[i - last] != net_source_byte(i)) data_wrong("received", i);
  if (read(from, &more, 1) != 0) net_wrong("received", transfer->bytes + 1, transfer->bytes);
}

/* After all bytes have been sent: wait until the other side has received them and has closed. */
static inline void net_transfer_end(int to) {
  char none;
  if (shutdown(to, SHUT_WR) != 0 || read(to, &none, 1) != 0) p5w_fail("end of the transfer");
}

/* The other side, as a process of this system. It is the sink if this side sends, else the source.
 */
static inline pid_t net_transfer_other(const struct net_transfer *transfer,
                                       struct sockaddr_in *address) {
  int listener = net_listen(0, 1, address);
  if (transfer->direction == NET_SEND) net_receive_buffer(listener, transfer->receive_buffer);
  pid_t child = fork();
  if (child == 0) {
    int other = net_accept(listener);
    if (transfer->direction == NET_SEND) {
      net_transfer_receive(transfer, other);
      net_transfer_check(transfer, other);
    } else {
      net_transfer_source(transfer, other);
    }
    _exit(0);
  }
  close(listener);
  return child;
}

/* Connect. *child becomes the process of the other side, or 0 if the other side is the remote host.
 */
static inline int net_transfer_open(const struct net_transfer *transfer, pid_t *child) {
  struct sockaddr_in address =
      net_address(NET_REMOTE_ADDRESS, transfer->direction == NET_SEND ? NET_SINK : NET_SOURCE);
  *child = transfer->peer == NET_LOOPBACK ? net_transfer_other(transfer, &address) : 0;
  int made = socket(AF_INET, SOCK_STREAM, 0);
  if (made < 0) p5w_fail("socket");
  if (transfer->direction == NET_RECEIVE) net_receive_buffer(made, transfer->receive_buffer);
  if (connect(made, (struct sockaddr *)&address, sizeof(address)) != 0) p5w_fail("connect");
  return made;
}

/* One transfer. Its bracket lasts from the first byte to the last acknowledged byte (send) or the
 * last byte read (receive). The connection is made before the bracket.
 */
static inline void net_transfer_measure(const struct net_transfer *transfer) {
  char answer[NET_LINE];
  pid_t child;
  int remote = transfer->peer == NET_REMOTE;
  if (remote) net_control("reset", answer);
  int other = net_transfer_open(transfer, &child);
  if (transfer->direction == NET_SEND) {
    p5_begin(0);
    net_transfer_send(transfer, other);
    net_transfer_end(other);
    p5_end(0);
  } else {
    if (remote) {
      int length = snprintf(answer, sizeof(answer), "%ld\n", transfer->bytes);
      net_write(other, answer, length, "source");
    }
    p5_begin(0);
    net_transfer_receive(transfer, other);
    p5_end(0);
    net_transfer_check(transfer, other);
  }
  close(other);
  if (!remote) {
    child_wait(child);
  } else if (transfer->direction == NET_SEND) {
    net_control("stats", answer);
    long bytes = (long)net_number(answer, "sink.tcp", "bytes");
    if (bytes != transfer->bytes) net_wrong("the remote host received", bytes, transfer->bytes);
    uint32_t check = (uint32_t)net_number(answer, "sink.tcp", "crc");
    if (check != transfer->check) net_wrong("check of it", (long)check, (long)transfer->check);
  }
}

#endif
