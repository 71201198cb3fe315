// SPDX-License-Identifier: MIT
/*
 * test-endurance: a mixed load for many rounds. Afterwards the servers must have the same number of
 * port names, open files and nodes as after the first rounds, and the same memory use. A round
 * starts a program and waits for it, kills a child in one of five states, and uses a pipe, sockets,
 * System V objects and a file.
 *
 *   rounds=N    run at least N rounds
 *   seconds=N   and at least N seconds of the machine's time
 *   pause=N     sleep N milliseconds after each round
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define DEBUG 1004 /* reads the server's counts (unix_types.h) */
#define SETTLED 8  /* rounds after which the counts must not grow */
#define PAGES_SPARE 64

struct debug {
  unsigned processes, files, sysv, free_pages, ports, bytes, nodes, file_ports, file_bytes;
};

static _Noreturn void fail(const char *what) {
  printf("failed: %s: %s\n", what, strerror(errno));
  exit(1);
}

static void start_program(void) {
  int status = -1;
  pid_t child = vfork();
  if (child == 0) {
    execl("/bin/true-static", "true-static", NULL);
    _exit(99);
  }
  if (waitpid(child, &status, 0) != child || status) fail("program");
}

static void in_state(int state, int pipe_end, int queue) {
  char byte;
  struct {
    long type;
    char text[8];
  } message;
  switch (state) {
    case 0: for (;;) continue;
    case 1: read(pipe_end, &byte, 1); break;
    case 2: msgrcv(queue, &message, 8, 0, 0); break;
    case 3: sleep(1000); break;
    default:
      if (fork() == 0) {
        for (;;) pause();
      }
      wait(NULL);
  }
  _exit(0);
}

static void kill_one(int round) {
  int ends[2], status, queue = msgget(IPC_PRIVATE, 0600);
  if (pipe(ends) != 0 || queue < 0) fail("pipe, msgget");
  pid_t child = fork();
  if (child == 0) {
    setpgid(0, 0);
    in_state(round % 5, ends[0], queue);
  }
  setpgid(child, child);
  if (round % 3) nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
  if (kill(-child, SIGKILL) != 0) fail("kill");
  pid_t ended = waitpid(child, &status, 0);
  if (ended != child || status != SIGKILL) {
    printf("failed: round %d: %d ended with status %#x, not %d\n", round, ended, status, child);
    exit(1);
  }
  close(ends[0]), close(ends[1]);
  if (msgctl(queue, IPC_RMID, NULL) != 0) fail("msgctl");
}

static void exchange(void) {
  int pair[2], segment = shmget(IPC_PRIVATE, 20000, 0600);
  static char bytes[9000];
  char *memory = shmat(segment, NULL, 0);
  if (memory == (void *)-1 || socketpair(AF_UNIX, SOCK_STREAM, 0, pair) != 0) fail("exchange");
  pid_t child = fork();
  if (child == 0) {
    memory[19999] = 'x';
    _exit(write(pair[1], bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes));
  }
  close(pair[1]);
  size_t total = 0;
  for (ssize_t count; (count = read(pair[0], bytes, sizeof(bytes))) > 0;) total += (size_t)count;
  int status;
  if (waitpid(child, &status, 0) != child || status || total != sizeof(bytes) || memory[19999] != 'x')
    fail("what came");
  close(pair[0]);
  if (shmdt(memory) != 0 || shmctl(segment, IPC_RMID, NULL) != 0) fail("shm");
}

static void use_file(void) {
  static char bytes[30000];
  int file = open("/tmp/endurance", O_RDWR | O_CREAT, 0600);
  if (write(file, bytes, sizeof(bytes)) != (ssize_t)sizeof(bytes)) fail("file");
  char *map = mmap(NULL, sizeof(bytes), PROT_READ, MAP_PRIVATE, file, 0);
  if (map == MAP_FAILED || map[29999] != 0 || munmap(map, sizeof(bytes)) != 0) fail("mmap");
  if (rename("/tmp/endurance", "/tmp/moved") != 0 || unlink("/tmp/moved") != 0 || close(file) != 0)
    fail("rename");
}

static void account(struct debug *debug) {
  if (syscall(DEBUG, debug) != 0) fail("debug");
}

static void same(const char *what, unsigned before, unsigned after) {
  if (after <= before) return;
  printf("failed: %s: %u before, %u after\n", what, before, after);
  exit(1);
}

int main(int argc, char **argv) {
  long rounds = 20, seconds = 0, pause_ms = 0, round = 0;
  struct debug before = {0}, after;
  struct timespec begin, now;
  for (int i = 1; i < argc; i++) {
    sscanf(argv[i], "rounds=%ld", &rounds);
    sscanf(argv[i], "seconds=%ld", &seconds);
    sscanf(argv[i], "pause=%ld", &pause_ms);
  }
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    start_program();
    kill_one((int)round);
    exchange();
    use_file();
    if (++round == SETTLED) account(&before);
    nanosleep(&(struct timespec){pause_ms / 1000, pause_ms % 1000 * 1000000}, NULL);
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while (round < rounds || now.tv_sec - begin.tv_sec < seconds);
  /* A killed grandchild is gone after the next request. */
  nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
  account(&after);
  same("processes", before.processes, after.processes);
  same("open files", before.files, after.files);
  same("System V objects", before.sysv, after.sysv);
  same("names of ports", before.ports, after.ports);
  same("address space", before.bytes, after.bytes);
  same("nodes", before.nodes, after.nodes);
  same("names of ports of the file server", before.file_ports, after.file_ports);
  same("address space of the file server", before.file_bytes, after.file_bytes);
  if (after.free_pages + PAGES_SPARE < before.free_pages) {
    printf("failed: %u pages free before, %u after\n", before.free_pages, after.free_pages);
    return 1;
  }
  printf("nothing was lost\n");
  return 0;
}
