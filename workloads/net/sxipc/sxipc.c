// SPDX-License-Identifier: MIT
/*
 * sxipc: the traffic between an X server and its clients, without windows (wpi92 section 4.5 and
 * figures 5 to 7). Phase = number of clients. A bracket contains all batches of requests from these
 * clients and the answers of the server, from the first connection to the end of the last
 * connection. lib/sxipc.h contains the scripts.
 *
 *   place=local    clients are processes of this system and use a local socket, like clients of X
 *   place=remote   clients are on the remote host and connect by TCP
 *   place=both     this number of local clients, and the same number of remote clients
 *
 * The server is one process that waits for all clients at once. The server adds up the bytes that
 * each client sends, and returns the sum when the client ends. A client compares the sum, and
 * checks each byte of its answers.
 */
#include <poll.h>
#include <sys/un.h>

#include "net.h"
#include "sxipc.h"

#define CLIENTS_MAX 30

enum place { LOCAL, REMOTE, BOTH };
static const char *const places[] = {"local", "remote", "both", NULL};
static const char *types[SXIPC_TYPES + 1]; /* the names of sxipc_types */

static long place, type, steps = 160, warmup = 1;

/* --- the server */

struct client {
  int socket;
  uint32_t used; /* bytes of an incomplete batch */
  uint32_t sum;
  unsigned char batch[SXIPC_BATCH_MAX];
};
static struct client clients[2 * CLIENTS_MAX];
static unsigned char answer[SXIPC_BATCH_MAX];

/* Answer a complete batch. Returns whether it was the client's last batch. */
static int handle(struct client *client, uint32_t size) {
  uint32_t wanted = sxipc_get(client->batch + 4);
  if (wanted == SXIPC_END) {
    unsigned char sum[4];
    sxipc_put(sum, client->sum);
    net_write(client->socket, sum, sizeof(sum), "sxipc: server");
    return 1;
  }
  client->sum += sxipc_sum(client->batch, size);
  if (wanted > sizeof(answer)) net_wrong("sxipc: answer", (long)wanted, (long)sizeof(answer));
  if (wanted > 0) net_write(client->socket, answer, (long)wanted, "sxipc: server");
  return 0;
}

/* Receive from a client. Returns whether the client is done. */
static int take(struct client *client) {
  uint32_t size = client->used < SXIPC_HEADER ? SXIPC_HEADER : sxipc_get(client->batch);
  errno = EPIPE;
  ssize_t count = read(client->socket, client->batch + client->used, size - client->used);
  if (count <= 0) p5w_fail("sxipc: server");
  client->used += (uint32_t)count;
  if (client->used < SXIPC_HEADER) return 0;
  size = sxipc_get(client->batch);
  if (size < SXIPC_HEADER || size > SXIPC_BATCH_MAX) net_wrong("sxipc: batch", (long)size, SXIPC_HEADER);
  if (client->used < size) return 0;
  client->used = 0;
  return handle(client, size);
}

/* Serve until `clients` clients have connected and ended. */
static _Noreturn void serve(const int listeners[2], long expected) {
  struct pollfd ready[2 + 2 * CLIENTS_MAX];
  long came = 0, gone = 0;
  for (uint32_t i = 0; i < sizeof(answer); i++) answer[i] = sxipc_answer_byte(i);
  for (int i = 0; i < 2; i++) ready[i] = (struct pollfd){.fd = listeners[i], .events = POLLIN};
  while (gone < expected) {
    if (poll(ready, (nfds_t)(2 + came), -1) < 0) p5w_fail("poll");
    for (long i = 0; i < came; i++) {
      if (!ready[2 + i].revents || !take(&clients[i])) continue;
      close(clients[i].socket);
      ready[2 + i].fd = -1;
      gone++;
    }
    for (int i = 0; i < 2; i++) {
      if (!ready[i].revents) continue;
      clients[came].socket = net_accept(listeners[i]);
      if (i == 1) net_no_delay(clients[came].socket);
      ready[2 + came] = (struct pollfd){.fd = clients[came].socket, .events = POLLIN};
      came++;
    }
  }
  _exit(0);
}

/* --- a client as a process of this system */

static struct sockaddr_un local_address;

static int local_listen(void) {
  int made = socket(AF_UNIX, SOCK_STREAM, 0);
  local_address.sun_family = AF_UNIX;
  snprintf(local_address.sun_path, sizeof(local_address.sun_path), "/tmp/p5lab-x-%ld", (long)getpid());
  unlink(local_address.sun_path);
  if (made < 0 || bind(made, (struct sockaddr *)&local_address, sizeof(local_address)) != 0 ||
      listen(made, CLIENTS_MAX) != 0)
    p5w_fail("local socket");
  return made;
}

static _Noreturn void ask(uint32_t number) {
  static unsigned char batch[SXIPC_BATCH_MAX], got[SXIPC_BATCH_MAX];
  uint32_t sum = 0, wanted;
  int to = socket(AF_UNIX, SOCK_STREAM, 0);
  if (to < 0 || connect(to, (struct sockaddr *)&local_address, sizeof(local_address)) != 0)
    p5w_fail("sxipc: connect");
  for (uint32_t n = 0; n < (uint32_t)steps; n++) {
    uint32_t size = sxipc_batch(batch, &sxipc_types[type], number, n, &wanted);
    sum += sxipc_sum(batch, size);
    net_write(to, batch, (long)size, "sxipc: client");
    if (wanted > 0) net_read(to, got, (long)wanted, "sxipc: client");
    for (uint32_t i = 0; i < wanted; i++)
      if (got[i] != sxipc_answer_byte(i)) net_wrong("sxipc: byte of an answer", got[i], sxipc_answer_byte(i));
  }
  net_write(to, batch, (long)sxipc_last(batch), "sxipc: client");
  net_read(to, got, 4, "sxipc: client");
  if (sxipc_get(got) != sum) net_wrong("sxipc: sum of the batches", (long)sxipc_get(got), (long)sum);
  _exit(0);
}

static void run_remotely(long count) {
  char line[NET_LINE];
  snprintf(line, sizeof(line), "run xclients port=%d clients=%ld type=%s steps=%ld", SXIPC_PORT, count,
           sxipc_types[type].name, steps);
  net_control(line, line);
  long right = (long)net_number(line, "xclients", "right");
  if (right != count) net_wrong("sxipc: remote clients with the right sum", right, count);
}

static void pass(long count) {
  struct sockaddr_in address;
  pid_t children[CLIENTS_MAX];
  int listeners[2] = {local_listen(), -1};
  if (place != LOCAL) listeners[1] = net_listen(SXIPC_PORT, CLIENTS_MAX, &address);
  pid_t server = fork();
  if (server == 0) serve(listeners, place == BOTH ? 2 * count : count);
  net_server_started(server);
  for (int i = 0; i < 2; i++)
    if (listeners[i] >= 0) close(listeners[i]); /* so that clients notice if the server gives up */
  p5_begin((uint32_t)count);
  for (long i = 0; place != REMOTE && i < count; i++) {
    children[i] = fork();
    if (children[i] == 0) ask((uint32_t)i);
  }
  if (place != LOCAL) run_remotely(count);
  for (long i = 0; place != REMOTE && i < count; i++) child_wait(children[i]);
  net_server_wait();
  p5_end((uint32_t)count);
  unlink(local_address.sun_path);
}

static void measure(long count) {
  int enabled = p5_marker_enabled;
  p5_marker_enabled = 0;
  for (long i = 0; i < warmup; i++) pass(count);
  p5_marker_enabled = enabled;
  pass(count);
}

int main(int argc, char **argv) {
  static const long counts[] = {1, 2, 4, 8, 16, 20, 30};
  long count = 0;
  for (int i = 0; i < SXIPC_TYPES; i++) types[i] = sxipc_types[i].name;
  const struct p5w_option options[] = {
      {"clients", "so many clients only, at most 30; 0: 1 to 30", &count, 0, NULL},
      {"place", "local, remote or so many of both", &place, 0, places},
      {"type", "what the clients are", &type, 0, types},
      {"steps", "batches of each client", &steps, 1, NULL},
      {"warmup", "passes before the measured one", &warmup, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  if (count > CLIENTS_MAX) {
    fprintf(stderr, "%s: clients must be at most %d\n", argv[0], CLIENTS_MAX);
    return P5W_EXIT_USAGE;
  }
  net_up(place == LOCAL ? NET_LOOPBACK : NET_REMOTE);
  if (count) measure(count);
  for (size_t i = 0; !count && i < sizeof(counts) / sizeof(*counts); i++) measure(counts[i]);
  return 0;
}
