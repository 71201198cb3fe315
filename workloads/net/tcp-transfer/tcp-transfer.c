// SPDX-License-Identifier: MIT
/*
 * tcp-transfer: 3 MB over a TCP connection, 48 KB per call (lai96 section 9.3: lmbench's bw_tcp).
 * The other side is a process of this system or the remote host. Phase 0 brackets one transfer. The
 * system chooses the sizes of the socket's buffers. `receive_buffer` can set the size of the
 * receive buffer.
 */
#include "nettransfer.h"

static struct net_transfer transfer = {.direction = NET_RECEIVE, .buffer = 48 << 10};

static void iteration(void) { net_transfer_measure(&transfer); }

int main(int argc, char **argv) {
  long kilobytes = 3072, iterations = 1, warmup = 1;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"kilobytes", "KB of a transfer", &kilobytes, 1, NULL},
      {"buffer", "bytes of a call, a multiple of 512", &transfer.buffer, 512, NULL},
      {"direction", "what this side does", &transfer.direction, 0, net_directions},
      {"receive_buffer", "bytes of the receiving socket's buffer, of a process here; 0: the system's",
       &transfer.receive_buffer, 0, NULL},
      NET_PEER(transfer.peer),
      {0}};
  p5w_start(argc, argv, options);
  transfer.bytes = kilobytes << 10;
  net_up(transfer.peer);
  net_transfer_new(&transfer);
  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
