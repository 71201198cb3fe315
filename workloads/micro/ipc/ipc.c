// SPDX-License-Identifier: MIT
/*
 * ipc: a client sends a message to a server process and receives an answer of the same size (wpi92
 * section 4.7, low-level IPC, local). Phase = bytes of the message. A bracket contains
 * `transactions` messages with their answers. The paper prints the mean of 5000 transactions, but
 * not the size of the answers.
 *
 *   pipe      two pipes
 *   message   System V messages, one queue for each direction
 *   socket    a pair of connected stream sockets of the local domain
 *   shm       a System V shared memory segment and two semaphores; both sides copy into and out of
 *             the segment, and the semaphores show which side may copy
 *
 * The server inverts the first byte and does not change the other bytes. The client changes the
 * first and the last byte each time and checks them in every answer. It checks the whole last
 * answer.
 */
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>

#include "child.h"
#include "stream.h"

#define BYTES_MAX 8192 /* largest System V message (Linux, MSGMAX) */

enum side { CLIENT, SERVER };

/* A way to send to the other side, and to receive from it. */
struct mechanism {
  void (*open)(void);
  void (*send)(enum side self, const unsigned char *bytes, long size);
  void (*receive)(enum side self, unsigned char *bytes, long size);
  void (*leave)(enum side other); /* closes the other side's ends of the channel */
  void (*close)(void);            /* removes objects that would remain after the processes */
};

static int ends[2][2]; /* [side]: read end, write end */
static struct message {
  long type;
  unsigned char bytes[BYTES_MAX];
} outgoing = {.type = 1}, incoming;
static int queues[2];  /* [side]: the queue that the side receives from */
static int segment = -1, semaphores = -1;
static unsigned char *shared;

static _Noreturn void missing(const char *what) {
  if (errno != ENOSYS) p5w_fail(what);
  fprintf(stderr, "%s: this system has none\n", what);
  exit(P5W_EXIT_UNAVAILABLE);
}

static void pipe_open(void) {
  int to_server[2], to_client[2];
  if (pipe(to_server) != 0 || pipe(to_client) != 0) p5w_fail("pipe");
  ends[SERVER][0] = to_server[0], ends[CLIENT][1] = to_server[1];
  ends[CLIENT][0] = to_client[0], ends[SERVER][1] = to_client[1];
}

static void socket_open(void) {
  int pair[2];
  if (socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) missing("local sockets");
  ends[CLIENT][0] = ends[CLIENT][1] = pair[0];
  ends[SERVER][0] = ends[SERVER][1] = pair[1];
}

static void ends_send(enum side self, const unsigned char *bytes, long size) {
  stream_write("ipc: send", ends[self][1], bytes, size);
}

static void ends_receive(enum side self, unsigned char *bytes, long size) {
  stream_read("ipc: receive", ends[self][0], bytes, size);
}

static void ends_leave(enum side other) {
  close(ends[other][0]);
  if (ends[other][1] != ends[other][0]) close(ends[other][1]);
}

static void ends_close(void) { ends_leave(CLIENT); }

static void message_open(void) {
  for (int side = 0; side < 2; side++) {
    queues[side] = msgget(IPC_PRIVATE, 0600);
    if (queues[side] < 0) missing("System V messages");
  }
}

/* These calls need the type and the bytes in one structure, so one more copy is needed than for a
 * pipe.
 */
static void message_send(enum side self, const unsigned char *bytes, long size) {
  memcpy(outgoing.bytes, bytes, (size_t)size);
  if (msgsnd(queues[!self], &outgoing, (size_t)size, 0) != 0) p5w_fail("ipc: msgsnd");
}

static void message_receive(enum side self, unsigned char *bytes, long size) {
  ssize_t count = msgrcv(queues[self], &incoming, BYTES_MAX, 0, 0);
  if (count != size) p5w_fail("ipc: msgrcv");
  memcpy(bytes, incoming.bytes, (size_t)size);
}

/* One call removes the queues for both sides and ends the wait of the other side. */
static void leave_nothing(enum side other) { (void)other; }

static void message_close(void) {
  for (int side = 0; side < 2; side++) msgctl(queues[side], IPC_RMID, NULL);
}

static void shm_open_segment(void) {
  segment = shmget(IPC_PRIVATE, BYTES_MAX, 0600);
  if (segment < 0) missing("System V shared memory");
  shared = shmat(segment, NULL, 0);
  if (shared == (void *)-1) p5w_fail("shmat");
  semaphores = semget(IPC_PRIVATE, 2, 0600);
  if (semaphores < 0) missing("System V semaphores");
  for (int side = 0; side < 2; side++)
    if (semctl(semaphores, side, SETVAL, 0) != 0) p5w_fail("semctl");
}

/* When this semaphore is up, this side may use the segment. */
static void semaphore(enum side of, int change) {
  struct sembuf step = {.sem_num = (unsigned short)of, .sem_op = (short)change};
  if (semop(semaphores, &step, 1) != 0) p5w_fail("ipc: semop");
}

static void shm_send(enum side self, const unsigned char *bytes, long size) {
  memcpy(shared, bytes, (size_t)size);
  semaphore(!self, 1);
}

static void shm_receive(enum side self, unsigned char *bytes, long size) {
  semaphore(self, -1);
  memcpy(bytes, shared, (size_t)size);
}

static void shm_close_segment(void) {
  shmdt(shared);
  shmctl(segment, IPC_RMID, NULL);
  semctl(semaphores, 0, IPC_RMID);
}

static const char *const mechanism_names[] = {"pipe", "message", "socket", "shm", NULL};
static const struct mechanism mechanisms[] = {
    {pipe_open, ends_send, ends_receive, ends_leave, ends_close},
    {message_open, message_send, message_receive, leave_nothing, message_close},
    {socket_open, ends_send, ends_receive, ends_leave, ends_close},
    {shm_open_segment, shm_send, shm_receive, leave_nothing, shm_close_segment},
};
static const struct mechanism *way;

static unsigned char request[BYTES_MAX], answer[BYTES_MAX];

static _Noreturn void serve(long size, long transactions) {
  way->leave(CLIENT);
  for (; transactions > 0; transactions--) {
    way->receive(SERVER, request, size);
    request[0] = (unsigned char)~request[0];
    way->send(SERVER, request, size);
  }
  _exit(0);
}

static int is_right(long size) {
  return answer[0] == (unsigned char)~request[0] &&
         (size == 1 || answer[size - 1] == request[size - 1]);
}

/* Not inlined, so that the warm-up fetches the same code as the measurement. */
static __attribute__((noinline)) void transact(long size, long first, long count) {
  for (long i = first; i < first + count; i++) {
    request[size - 1] = (unsigned char)(i + 1);
    request[0] = (unsigned char)i;
    way->send(CLIENT, request, size);
    way->receive(CLIENT, answer, size);
    if (is_right(size)) continue;
    fprintf(stderr, "ipc: transaction %ld: not the answer to it\n", i);
    way->close();
    exit(P5W_EXIT_FAILED);
  }
}

static void measure(long size, long warmup, long transactions) {
  stream_fill(request, size);
  memset(answer, 0, sizeof(answer));
  way->open();
  pid_t child = fork();
  if (child == 0) serve(size, warmup + transactions);
  way->leave(SERVER);
  p5w_await_tick();
  transact(size, 0, warmup);
  p5_begin((uint32_t)size);
  transact(size, warmup, transactions);
  p5_end((uint32_t)size);
  child_wait(child);
  way->close();
  for (long i = 1; i < size; i++)
    if (answer[i] != request[i]) {
      fprintf(stderr, "ipc: %ld bytes: byte %ld came back wrong\n", size, i);
      exit(P5W_EXIT_FAILED);
    }
}

int main(int argc, char **argv) {
  static const long sizes[] = {1, 64, 256, 512, 1024, 2048, 3072, 4096, 4097, 6144, 8192};
  long mechanism = 0, bytes = 0, transactions = 100, warmup = 5;
  const struct p5w_option options[] = {
      {"mechanism", "pipe, message, socket or shm", &mechanism, 0, mechanism_names},
      {"bytes", "messages of this size only, 1 to 8192; 0: all of them", &bytes, 0, NULL},
      {"transactions", "measured transactions for each size", &transactions, 1, NULL},
      {"warmup", "transactions before the first measured one", &warmup, 0, NULL},
      {0}};
  p5w_start(argc, argv, options);
  if (bytes > BYTES_MAX) {
    fprintf(stderr, "%s: bytes must be at most %d\n", argv[0], BYTES_MAX);
    return P5W_EXIT_USAGE;
  }
  way = &mechanisms[mechanism];
  if (bytes) measure(bytes, warmup, transactions);
  for (size_t i = 0; !bytes && i < sizeof(sizes) / sizeof(*sizes); i++)
    measure(sizes[i], warmup, transactions);
  return 0;
}
