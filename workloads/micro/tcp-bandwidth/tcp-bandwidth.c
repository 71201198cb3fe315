// SPDX-License-Identifier: MIT
/*
 * tcp-bandwidth: a child sends, and its parent receives, over a TCP connection on loopback, both 48
 * KB per call (lai96 section 9.3: lmbench's bw_tcp, 3 MB). Phase 0 brackets the reading of
 * `buffers` buffers. The sender is always ahead of the receiver by the bytes in the connection. The
 * system chooses the sizes of the socket's buffers.
 */
#include "child.h"
#include "loopback.h"
#include "stream.h"

#define BUFFER (48 << 10)

static unsigned char buffer[BUFFER];

int main(int argc, char **argv) {
  long buffers = 64, warmup = 4;
  const struct p5w_option options[] = {
      {"buffers", "measured buffers of 48 KB", &buffers, 1, NULL},
      {"warmup", "buffers before the first measured one", &warmup, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  loopback_up();
  struct sockaddr_in address;
  int listener = loopback_bind(SOCK_STREAM, &address);
  if (listen(listener, 1) != 0) p5w_fail("listen");

  pid_t child = fork();
  if (child == 0) {
    close(listener);
    int to = socket(AF_INET, SOCK_STREAM, 0);
    if (to < 0 || connect(to, (struct sockaddr *)&address, sizeof(address)) != 0)
      p5w_fail("connect");
    stream_send("tcp", to, buffer, BUFFER, warmup + buffers);
    _exit(0);
  }
  int from = accept(listener, NULL, NULL);
  if (from < 0) p5w_fail("accept");
  stream_receive("tcp", from, buffer, BUFFER, warmup, buffers);
  child_wait(child);
  return 0;
}
