// SPDX-License-Identifier: MIT
/*
 * netbw: send a buffer of 256 KB over a TCP connection to a receiver with a buffer of 24 KB (chen95
 * section 4.7 and figure 9: over a dedicated Ethernet of 10 Mbit/s). Phase 0 brackets one call that
 * sends the whole buffer, and the wait until the other side has received the buffer and has closed
 * the connection.
 */
#include "nettransfer.h"

static struct net_transfer transfer = {.direction = NET_SEND, .receive_buffer = 24 << 10};

static void iteration(void) { net_transfer_measure(&transfer); }

int main(int argc, char **argv) {
  long kilobytes = 256, iterations = 4, warmup = 1;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"kilobytes", "KB that one call sends", &kilobytes, 1, NULL},
      {"receive_buffer", "bytes of the receiver's buffer, of a process here; 0: the system's own",
       &transfer.receive_buffer, 0, NULL},
      NET_PEER(transfer.peer),
      {0}};
  p5w_start(argc, argv, options);
  transfer.bytes = transfer.buffer = kilobytes << 10;
  net_up(transfer.peer);
  net_transfer_new(&transfer);
  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
