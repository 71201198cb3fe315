// SPDX-License-Identifier: MIT
/*
 * test-kill: kills processes in every state of a call, both early and late in the state. Afterwards
 * the program checks three conditions: the resources of the killed processes are free, the
 * processes that waited for them were notified, and calls of the same kinds work. Prints each state
 * in which an error occurred.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum state { RUNNING, STOPPED, SLEEPING, PAUSED, READING, WRITING, POLLING, SELECTING, RECEIVING,
             SENDING, SEMAPHORE, ACCEPTING, SOCKET_READING, WAITING, VFORKED, STARTING, COPYING,
             STATES };

static const char *const names[STATES] = {
    "running", "stopped", "sleep", "pause", "read of an empty pipe", "write to a full pipe", "poll",
    "select", "msgrcv", "msgsnd to a full queue", "semop", "accept", "read of a socket", "wait",
    "vfork", "fork and exec, over and over", "much through a pipe"};

static int ends[2], full[2], pair[2], queue, full_queue, semaphores, listener;

static struct {
  long type;
  char text[4096];
} message = {.type = 1};

static _Noreturn void fail(enum state state, const char *what) {
  printf("wrong: %s: %s (%s)\n", names[state], what, strerror(errno));
  exit(1);
}

static void start_program(void) {
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true-static", "true-static", (char *)NULL);
    _exit(99);
  }
  waitpid(child, NULL, 0);
}

static _Noreturn void be_in(enum state state) {
  static char many[100000];
  struct pollfd end = {.fd = ends[0], .events = POLLIN};
  struct sembuf down = {.sem_op = -1};
  fd_set set;
  pid_t child;
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  switch (state) {
    case STOPPED: raise(SIGSTOP); break;
    case SLEEPING: sleep(1000); break;
    case PAUSED: pause(); break;
    case READING: (void)!read(ends[0], many, 1); break;
    case WRITING: (void)!write(full[1], many, sizeof(many)); break;
    case POLLING: poll(&end, 1, -1); break;
    case SELECTING: select(ends[0] + 1, &set, NULL, NULL, NULL); break;
    case RECEIVING: msgrcv(queue, &message, sizeof(message.text), 0, 0); break;
    case SENDING: msgsnd(full_queue, &message, sizeof(message.text), 0); break;
    case SEMAPHORE: semop(semaphores, &down, 1); break;
    case ACCEPTING: accept(listener, NULL, NULL); break;
    case SOCKET_READING: (void)!read(pair[0], many, sizeof(many)); break;
    case WAITING:
      if (fork() == 0)
        for (;;) pause();
      wait(NULL);
      break;
    case VFORKED:
      child = vfork();
      if (child == 0)
        for (;;) pause();
      break;
    case STARTING: for (;;) start_program();
    case COPYING:
      for (;;)
        if (pipe(ends) == 0) {
          if ((child = fork()) == 0) _exit(write(ends[1], many, sizeof(many)) < 0);
          close(ends[1]);
          while (read(ends[0], many, 9000) > 0) continue;
          close(ends[0]);
          waitpid(child, NULL, 0);
        }
    default: break;
  }
  for (;;) continue;
}

static void kill_in(enum state state, long microseconds) {
  int status;
  pid_t child = fork();
  if (child < 0) fail(state, "fork");
  if (child == 0) {
    setpgid(0, 0);
    be_in(state);
  }
  setpgid(child, child);
  if (microseconds) nanosleep(&(struct timespec){.tv_nsec = microseconds * 1000}, NULL);
  if (kill(-child, SIGKILL) != 0) fail(state, "kill");
  if (waitpid(child, &status, 0) != child || status != SIGKILL) fail(state, "how it ended");
}

/* The objects for which the killed processes waited still work, and the killed processes receive no
 * data.
 */
static void is_well(enum state state) {
  char byte = 'a', got = 0;
  struct sembuf up = {.sem_op = 1}, down = {.sem_op = -1, .sem_flg = IPC_NOWAIT};
  if (write(ends[1], &byte, 1) != 1 || read(ends[0], &got, 1) != 1 || got != 'a')
    fail(state, "pipe");
  if (write(pair[1], &byte, 1) != 1 || read(pair[0], &got, 1) != 1) fail(state, "socket");
  if (msgsnd(queue, &message, 8, IPC_NOWAIT) != 0) fail(state, "msgsnd");
  if (msgrcv(queue, &message, sizeof(message.text), 0, IPC_NOWAIT) != 8) fail(state, "msgrcv");
  if (semop(semaphores, &up, 1) != 0 || semop(semaphores, &down, 1) != 0) fail(state, "semop");
  if (semctl(semaphores, 0, GETVAL) != 0) fail(state, "value of the semaphore");
  if (waitpid(-1, NULL, WNOHANG) != -1 || errno != ECHILD) fail(state, "a child is left");
}

static void prepare(void) {
  struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "/tmp/test-kill"};
  queue = msgget(IPC_PRIVATE, 0600);
  full_queue = msgget(IPC_PRIVATE, 0600);
  semaphores = semget(IPC_PRIVATE, 1, 0600);
  listener = socket(AF_UNIX, SOCK_STREAM, 0);
  if (queue < 0 || full_queue < 0 || semaphores < 0 || listener < 0 || pipe(ends) != 0 ||
      pipe(full) != 0 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0 ||
      bind(listener, (struct sockaddr *)&address, sizeof(address)) != 0 || listen(listener, 1) != 0)
    fail(RUNNING, "what is needed");
  fcntl(full[1], F_SETFL, O_NONBLOCK);
  while (write(full[1], message.text, 1024) > 0) continue;
  fcntl(full[1], F_SETFL, 0);
  while (msgsnd(full_queue, &message, sizeof(message.text), IPC_NOWAIT) == 0) continue;
}

int main(void) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  prepare();
  for (enum state state = RUNNING; state < STATES; state++)
    for (int i = 0; i < (state >= VFORKED ? 6 : 3); i++) {
      kill_in(state, i * 3700);
      is_well(state);
    }
  start_program();
  close(full[0]), close(full[1]);
  if (msgctl(queue, IPC_RMID, NULL) || msgctl(full_queue, IPC_RMID, NULL) ||
      semctl(semaphores, 0, IPC_RMID) || unlink("/tmp/test-kill"))
    fail(RUNNING, "removing what was needed");
  printf("all are gone\n");
  return 0;
}
