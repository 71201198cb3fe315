// SPDX-License-Identifier: MIT
/*
 * test-unix: tests the functions of UNIX, and the errors that incorrect calls return. The same
 * source passes on guest linux (tests/e2e/test_mach.py). The program prints a line for each
 * failure. After a failure, the program's exit status is not 0.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOWHERE ((void *)(uintptr_t)16)
#define BIG 300000

static int wrong;

static void check(int good, const char *what) {
  if (good) return;
  printf("wrong: %s (%s)\n", what, strerror(errno));
  wrong = 1;
}

/* Whether a call failed with this error. */
static int fails(long result, int reason) { return result == -1 && errno == reason; }

static void finish(pid_t child, int expected, const char *what);

static unsigned char pattern(long i) { return (unsigned char)(i * 7 + i / 251); }

static void errors(void) {
  int ends[2];
  char byte = 0, name[300];
  check(pipe(ends) == 0, "pipe");
  check(fails(read(99, &byte, 1), EBADF), "read of no file");
  check(fails(write(ends[1], NOWHERE, 1), EFAULT), "write from nowhere");
  check(fails(write(ends[1], NOWHERE, 5000), EFAULT), "much written from nowhere");
  check(write(ends[1], &byte, 1) == 1, "write");
  check(fails(read(ends[0], NOWHERE, 1), EFAULT), "read to nowhere");
  check(fails(open(NOWHERE, O_RDONLY), EFAULT), "open of nowhere");
  check(fails(pipe(NOWHERE), EFAULT), "pipe to nowhere");
  check(fails(execve(NOWHERE, NULL, NULL), EFAULT), "exec of nowhere");
  check(fails(open("/missing", O_RDONLY), ENOENT), "open of what is missing");
  check(fails(open("/missing/file", O_RDONLY | O_CREAT, 0600), ENOENT), "file in what is missing");
  check(fails(open("/bin/dup/file", O_RDONLY), ENOTDIR), "file below a file");
  check(fails(open("/bin", O_WRONLY), EISDIR), "writing a directory");
  check(fails(mkdir("/bin", 0700), EEXIST), "mkdir of what is there");
  check(fails(rmdir("/bin"), ENOTEMPTY), "rmdir of what is full");
  check(fails(chdir("/bin/dup"), ENOTDIR), "chdir to a file");
  check(fails(syscall(999), ENOSYS), "unknown call");
  check(fails(kill(31000, SIGTERM), ESRCH), "kill of nobody");
  check(fails(waitpid(-1, NULL, 0), ECHILD), "wait for nobody");
  check(fails(lseek(ends[0], 0, SEEK_SET), ESPIPE), "seek in a pipe");
  check(fails(dup2(99, 5), EBADF), "dup2 of no file");
  memset(name, 'x', sizeof(name));
  name[0] = '/';
  name[sizeof(name) - 1] = '\0';
  check(fails(open(name, O_RDONLY), ENAMETOOLONG), "a long name");
  check(fails(execl("/tmp", "tmp", NULL), EACCES), "exec of a directory");
  int file = open("/tmp/text", O_WRONLY | O_CREAT, 0700);
  check(write(file, "no program", 10) == 10 && close(file) == 0, "a text");
  check(fails(execl("/tmp/text", "text", NULL), ENOEXEC), "exec of a text");
  check(unlink("/tmp/text") == 0, "unlink");
  int count = 0, copies[2000], copy;
  while (count < 2000 && (copy = dup(ends[0])) >= 0) copies[count++] = copy;
  check(count < 2000 && errno == EMFILE, "too many files");
  while (count > 0) close(copies[--count]);
  signal(SIGPIPE, SIG_IGN);
  close(ends[0]);
  check(fails(write(ends[1], &byte, 1), EPIPE), "write to nobody");
  signal(SIGPIPE, SIG_DFL);
  close(ends[1]);
}

static void files(void) {
  static unsigned char bytes[BIG];
  struct stat status;
  char text[64];
  check(mkdir("/tmp/place", 0700) == 0 && chdir("/tmp/place") == 0, "a directory");
  check(getcwd(text, sizeof(text)) && strcmp(text, "/tmp/place") == 0, "getcwd");
  int file = open("big", O_RDWR | O_CREAT | O_EXCL, 0640);
  for (long i = 0; i < BIG; i++) bytes[i] = pattern(i);
  check(write(file, bytes, BIG) == BIG, "a big file");
  check(lseek(file, 70001, SEEK_SET) == 70001, "lseek");
  memset(bytes, 0, BIG);
  check(read(file, bytes, 100000) == 100000, "reading it");
  long i = 0;
  while (i < 100000 && bytes[i] == pattern(70001 + i)) i++;
  check(i == 100000, "what was read");
  unsigned char *map = mmap(NULL, BIG, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0);
  check(map != MAP_FAILED && map[123456] == pattern(123456), "mapping it");
  map[5] = (unsigned char)~map[5];
  check(pread(file, bytes, 1, 5) == 1 && bytes[0] == pattern(5), "a private mapping is private");
  check(munmap(map, BIG) == 0, "munmap");
  check(fstat(file, &status) == 0 && status.st_size == BIG && S_ISREG(status.st_mode), "fstat");
  check(ftruncate(file, 10) == 0 && fstat(file, &status) == 0 && status.st_size == 10, "truncate");
  check(ftruncate(file, 20) == 0 && lseek(file, 10, SEEK_SET) == 10 && read(file, bytes, 20) == 10 &&
            bytes[0] == 0 && bytes[9] == 0,
        "what it grows by is zero");
  close(file);
  check(fails(open("big", O_WRONLY | O_CREAT | O_EXCL, 0600), EEXIST), "exclusive");
  check(rename("big", "../place/small") == 0 && fails(access("big", F_OK), ENOENT), "rename");
  file = open("small", O_WRONLY | O_APPEND);
  check(write(file, "end", 3) == 3 && stat("small", &status) == 0 && status.st_size == 23, "append");
  close(file);
  for (i = 0; i < 40; i++) {
    snprintf(text, sizeof(text), "file-%ld", i);
    close(open(text, O_WRONLY | O_CREAT, 0600));
  }
  int found = 0;
  DIR *directory = opendir(".");
  for (struct dirent *entry; directory && (entry = readdir(directory));)
    found += strncmp(entry->d_name, "file-", 5) == 0;
  check(directory && closedir(directory) == 0 && found == 40, "reading a directory");
  for (i = 0; i < 40; i++) {
    snprintf(text, sizeof(text), "file-%ld", i);
    check(unlink(text) == 0, text);
  }
  check(unlink("small") == 0 && chdir("..") == 0 && rmdir("place") == 0, "cleaning up");
}

static void finish(pid_t child, int expected, const char *what) {
  int status = -1;
  check(child > 0 && waitpid(child, &status, 0) == child && status == expected, what);
}

static void processes(void) {
  int ends[2];
  static volatile int shared_not = 1;
  volatile int *shared = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  check(shared != MAP_FAILED && pipe(ends) == 0, "shared memory");
  pid_t self = getpid(), child = fork();
  if (child == 0) {
    shared_not = 2;
    *shared = getppid() == self && getpid() != self ? 17 : 0;
    _exit(3);
  }
  finish(child, 3 << 8, "exit status");
  check(shared_not == 1 && *shared == 17, "what a fork shares, and what not");
  if ((child = fork()) == 0) *(volatile int *)NOWHERE = 1;
  finish(child, SIGSEGV, "a bad address ends a process");
  if ((child = fork()) == 0) __asm__ volatile("hlt");
  finish(child, SIGSEGV, "an instruction of the kernel's ends a process");
  if ((child = fork()) == 0) shared_not /= shared_not - shared_not;
  finish(child, SIGFPE, "a division by zero ends a process");
  if ((child = fork()) == 0) *(volatile char *)(uintptr_t)&processes = 1;
  finish(child, SIGSEGV, "code cannot be written");
  /* Kill a process while it runs, sleeps, waits for a pipe, or waits for a child. */
  for (int state = 0; state < 4; state++) {
    char byte;
    if ((child = fork()) == 0) {
      if (state == 1) sleep(1000);
      if (state == 2) read(ends[0], &byte, 1);
      if (state == 3) {
        if (fork() == 0) {
          sleep(1);
          _exit(0);
        }
        wait(NULL);
      }
      for (;;) shared_not++;
    }
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    check(kill(child, SIGKILL) == 0, "kill");
    finish(child, SIGKILL, "killed");
  }
  if ((child = fork()) == 0) {
    close(ends[0]);
    static char many[BIG];
    for (long i = 0; i < BIG; i++) many[i] = (char)pattern(i);
    _exit(write(ends[1], many, BIG) != BIG);
  }
  close(ends[1]);
  long total = 0, bad = 0;
  unsigned char part[7000];
  for (ssize_t count; (count = read(ends[0], part, sizeof(part))) > 0; total += count)
    for (ssize_t i = 0; i < count; i++) bad += part[i] != pattern(total + i);
  check(total == BIG && bad == 0, "much through a pipe");
  finish(child, 0, "the writer");
  close(ends[0]);
  check(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "no child is left");
}

static void waiting(void) {
  int ends[2];
  fd_set set;
  struct timespec before, after;
  check(pipe(ends) == 0, "pipe");
  struct pollfd both[2] = {{.fd = ends[0], .events = POLLIN}, {.fd = ends[1], .events = POLLOUT}};
  check(poll(both, 1, 0) == 0, "nothing to read");
  check(poll(both, 2, -1) == 1 && both[1].revents == POLLOUT, "room to write");
  clock_gettime(CLOCK_MONOTONIC, &before);
  check(poll(both, 1, 50) == 0, "poll for a while");
  clock_gettime(CLOCK_MONOTONIC, &after);
  long ms = (after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000;
  check(ms >= 40 && ms <= 90, "as long as asked for");
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  check(select(ends[0] + 1, &set, NULL, NULL, &(struct timeval){0, 20000}) == 0, "select");
  pid_t child = fork();
  if (child == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    _exit(write(ends[1], "!", 1) != 1);
  }
  FD_ZERO(&set);
  FD_SET(ends[0], &set);
  check(select(ends[0] + 1, &set, NULL, NULL, NULL) == 1 && FD_ISSET(ends[0], &set), "woken");
  finish(child, 0, "who woke");
  close(ends[1]);
  check(poll(both, 1, -1) == 1 && both[0].revents & POLLIN, "a byte is there");
  close(ends[0]);
}

static void programs(const char *self) {
  char *arguments[502], *environment[] = {"NAME=value", NULL};
  arguments[0] = (char *)self;
  for (int i = 1; i < 501; i++) arguments[i] = "an argument";
  arguments[501] = NULL;
  pid_t child = fork();
  if (child == 0) {
    execve(self, arguments, environment);
    _exit(99);
  }
  finish(child, 55 << 8, "many arguments");
}

/* The program that programs() starts. */
static int started(int count, char **arguments) {
  const char *value = getenv("NAME");
  for (int i = 1; i < count; i++)
    if (strcmp(arguments[i], "an argument") != 0) return 1;
  return count == 501 && value && strcmp(value, "value") == 0 ? 55 : 2;
}

/* --- signals ---------------------------------------------------------------------------------- */

static volatile sig_atomic_t caught, last;
static sigjmp_buf back;

static void count(int number) {
  caught++;
  last = number;
}

static void jump(int number) {
  last = number;
  siglongjmp(back, 1);
}

static void catch(int number, void (*handler)(int), int flags) {
  struct sigaction action = {.sa_handler = handler, .sa_flags = flags};
  check(sigaction(number, &action, NULL) == 0, "sigaction");
}

static void later(pid_t to, int number, long milliseconds) {
  nanosleep(&(struct timespec){.tv_nsec = milliseconds * 1000000}, NULL);
  _exit(kill(to, number) != 0);
}

static void signals(void) {
  int ends[2];
  char byte = 0;
  sigset_t set, before;
  struct sigaction action;
  pid_t self = getpid(), child;
  catch(SIGUSR1, count, 0);
  check(raise(SIGUSR1) == 0 && caught == 1 && last == SIGUSR1, "a signal to oneself");
  check(sigaction(SIGUSR1, NULL, &action) == 0 && action.sa_handler == count, "which handler");

  check(pipe(ends) == 0, "pipe");
  if ((child = fork()) == 0) later(self, SIGUSR1, 30);
  check(fails(read(ends[0], &byte, 1), EINTR) && caught == 2, "a read that a signal ends");
  finish(child, 0, "who sent it");
  catch(SIGUSR1, count, SA_RESTART);
  if ((child = fork()) == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    kill(self, SIGUSR1);
    nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
    _exit(write(ends[1], "x", 1) != 1);
  }
  check(read(ends[0], &byte, 1) == 1 && byte == 'x' && caught == 3, "a read that goes on after it");
  finish(child, 0, "who wrote");
  catch(SIGUSR1, count, 0);
  if ((child = fork()) == 0) later(self, SIGUSR1, 20);
  struct timespec left = {0};
  check(fails(nanosleep(&(struct timespec){.tv_sec = 5}, &left), EINTR) && left.tv_sec == 4,
        "a sleep that a signal ends");
  finish(child, 0, "who sent it");

  /* A program that makes no call: a signal must not change numbers on the stack or in the x87. */
  caught = 0;
  if ((child = fork()) == 0) later(self, SIGUSR1, 30);
  volatile double third = 1.0;
  double sum = 0;
  long turns = 0, odd = 0;
  while (!caught) {
    sum += third / 3;
    odd += ++turns & 1;
  }
  double expected = 0;
  for (long i = 0; i < turns; i++) expected += third / 3;
  check(sum == expected && odd == (turns + 1) / 2 && turns > 1000, "a signal to one that runs");
  finish(child, 0, "who sent it");

  sigemptyset(&set);
  sigaddset(&set, SIGUSR1);
  caught = 0;
  check(sigprocmask(SIG_BLOCK, &set, &before) == 0 && !sigismember(&before, SIGUSR1), "blocking");
  raise(SIGUSR1);
  check(caught == 0 && sigpending(&set) == 0 && sigismember(&set, SIGUSR1), "it is pending");
  check(sigprocmask(SIG_SETMASK, &before, NULL) == 0 && caught == 1, "it comes when it may");
  sigaddset(&set, SIGUSR1);
  sigprocmask(SIG_BLOCK, &set, NULL);
  if ((child = fork()) == 0) later(self, SIGUSR1, 20);
  check(fails(sigsuspend(&before), EINTR) && caught == 2, "sigsuspend");
  sigprocmask(SIG_SETMASK, &before, NULL);
  finish(child, 0, "who sent it");

  catch(SIGSEGV, jump, 0);
  for (int i = 0; i < 3; i++) {
    last = 0;
    if (sigsetjmp(back, 1) == 0) *(volatile int *)NOWHERE = 1;
    check(last == SIGSEGV, "a bad address that is caught");
  }
  signal(SIGSEGV, SIG_DFL);
  catch(SIGALRM, count, 0);
  caught = 0;
  alarm(1);
  check(pause() == -1 && errno == EINTR && caught == 1 && last == SIGALRM, "alarm");

  catch(SIGCHLD, count, SA_RESTART);
  caught = 0;
  if ((child = fork()) == 0) _exit(4);
  int status = 0;
  check(waitpid(child, &status, 0) == child && status == 4 << 8 && caught == 1, "SIGCHLD");
  signal(SIGCHLD, SIG_IGN);
  if ((child = fork()) == 0) _exit(0);
  check(fails(waitpid(child, NULL, 0), ECHILD), "a child that nobody asks for");
  signal(SIGCHLD, SIG_DFL);
  signal(SIGUSR1, SIG_IGN);
  check(kill(self, SIGUSR1) == 0, "one that is ignored");
  if ((child = fork()) == 0) {
    catch(SIGTERM, count, 0);
    while (!caught) pause();
    _exit(caught == 1 ? 6 : 1);
  }
  nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
  kill(child, SIGTERM);
  finish(child, 6 << 8, "a child with a handler");
  signal(SIGUSR1, SIG_DFL);

  if ((child = fork()) == 0) {
    for (;;) pause();
  }
  kill(child, SIGSTOP);
  check(waitpid(child, &status, WUNTRACED) == child && WIFSTOPPED(status), "stopped");
  kill(child, SIGCONT);
  kill(child, SIGTERM);
  finish(child, SIGTERM, "and ended");
  close(ends[0]);
  close(ends[1]);
}

static void groups(void) {
  pid_t children[3];
  check(getpgrp() >= 0 && getpgid(0) == getpgrp() && fails(getpgid(31000), ESRCH), "own group");
  for (int i = 0; i < 3; i++)
    if ((children[i] = fork()) == 0) {
      setpgid(0, i ? children[0] : 0);
      for (;;) pause();
    } else {
      setpgid(children[i], children[0]);
    }
  check(getpgid(children[2]) == children[0], "a group of three");
  check(kill(-children[0], SIGTERM) == 0, "a signal to a group");
  int ended = 0, status;
  while (waitpid(-children[0], &status, 0) > 0) ended += status == SIGTERM;
  check(ended == 3, "all three");
  pid_t child = fork();
  if (child == 0) _exit(setsid() == getpid() && getsid(0) == getpid() ? 8 : 1);
  finish(child, 8 << 8, "a session");
  check(!isatty(99) && errno == EBADF, "no terminal");
}

/* --- links, shared files, sockets, System V --------------------------------------------------- */

static void links(void) {
  struct stat status;
  char text[64];
  check(mkdir("/tmp/links", 0700) == 0 && chdir("/tmp/links") == 0, "a directory");
  int file = open("one", O_RDWR | O_CREAT, 0600);
  check(write(file, "hello", 5) == 5 && link("one", "two") == 0, "link");
  check(fstat(file, &status) == 0 && status.st_nlink == 2, "two names");
  check(fails(link("one", "two"), EEXIST), "a name that is there");
  check(symlink("two", "soft") == 0 && readlink("soft", text, sizeof(text)) == 3, "symlink");
  check(lstat("soft", &status) == 0 && S_ISLNK(status.st_mode), "lstat");
  check(stat("soft", &status) == 0 && S_ISREG(status.st_mode) && status.st_size == 5, "stat");
  check(symlink("loop", "loop") == 0 && fails(open("loop", O_RDONLY), ELOOP), "a loop");
  check(symlink("/tmp/links", "here") == 0 && access("here/one", F_OK) == 0, "a link on the way");
  check(unlink("one") == 0 && stat("two", &status) == 0 && status.st_nlink == 1, "one name less");
  check(rename("two", "three") == 0 && fails(open("soft", O_RDONLY), ENOENT), "a dangling link");
  check(mkdir("sub", 0700) == 0 && mkdir("sub/deep", 0700) == 0, "directories");
  check(stat("sub", &status) == 0 && status.st_nlink == 3, "their links");
  check(fails(rename("sub", "sub/deep/er"), EINVAL), "a directory into itself");
  check(rename("sub/deep", "deep") == 0 && stat("sub", &status) == 0 && status.st_nlink == 2,
        "a directory to another");
  check(fails(rename("three", "sub"), EISDIR) && fails(rename("sub", "three"), ENOTDIR), "kinds");
  check(rmdir("deep") == 0 && rmdir("sub") == 0, "rmdir");
  char *map = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  check(map != MAP_FAILED && memcmp(map, "hello", 5) == 0, "a shared mapping");
  pid_t child = fork();
  if (child == 0) {
    map[0] = 'J';
    _exit(pwrite(file, "y", 1, 4) != 1);
  }
  finish(child, 0, "who wrote");
  check(map[0] == 'J' && map[4] == 'y' && pread(file, text, 5, 0) == 5 && text[0] == 'J',
        "what is written there is in the file");
  check(munmap(map, 8192) == 0 && close(file) == 0, "munmap");
  file = open("three", O_RDONLY);
  check(fails((long)mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), EACCES),
        "a shared mapping of what may not be written");
  check(read(file, text, 5) == 5 && memcmp(text, "Jelly", 5) == 0 && close(file) == 0, "the file");
  check(unlink("three") == 0 && unlink("soft") == 0 && unlink("loop") == 0 && unlink("here") == 0,
        "unlink");
  check(chdir("/") == 0 && rmdir("/tmp/links") == 0, "cleaning up");
}

static void sockets(void) {
  int pair[2], listening, client, server;
  char text[16];
  struct sockaddr_un name = {.sun_family = AF_UNIX, .sun_path = "/tmp/socket"};
  check(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0, "socketpair");
  check(write(pair[0], "there", 5) == 5 && recv(pair[1], text, 16, 0) == 5, "there");
  check(send(pair[1], "back", 4, 0) == 4 && read(pair[0], text, 16) == 4, "and back");
  check(fails(recv(pair[0], text, 1, MSG_DONTWAIT), EAGAIN), "nothing there");
  check(shutdown(pair[0], SHUT_WR) == 0 && read(pair[1], text, 1) == 0, "shutdown");
  check(close(pair[0]) == 0 && fails(send(pair[1], "x", 1, MSG_NOSIGNAL), EPIPE), "nobody");
  close(pair[1]);
  listening = socket(AF_UNIX, SOCK_STREAM, 0);
  check(fails(connect(listening, (struct sockaddr *)&name, sizeof(name)), ENOENT), "no such name");
  check(bind(listening, (struct sockaddr *)&name, sizeof(name)) == 0, "bind");
  client = socket(AF_UNIX, SOCK_STREAM, 0);
  check(fails(connect(client, (struct sockaddr *)&name, sizeof(name)), ECONNREFUSED), "refused");
  check(listen(listening, 4) == 0, "listen");
  pid_t child = fork();
  if (child == 0) {
    check(connect(client, (struct sockaddr *)&name, sizeof(name)) == 0, "connect");
    _exit(write(client, "hello", 5) != 5 || read(client, text, 16) != 3);
  }
  close(client);
  struct pollfd wait = {.fd = listening, .events = POLLIN};
  check(poll(&wait, 1, 2000) == 1 && wait.revents == POLLIN, "somebody comes");
  server = accept(listening, NULL, NULL);
  check(server >= 0 && read(server, text, 16) == 5 && write(server, "you", 3) == 3, "accept");
  finish(child, 0, "the client");
  check(read(server, text, 1) == 0, "the end");
  check(fails(accept(99, NULL, NULL), EBADF) && fails(listen(STDIN_FILENO, 1), ENOTSOCK), "errors");
  close(server), close(listening);
  check(unlink("/tmp/socket") == 0, "unlink");
}

static struct {
  long type;
  char text[100];
} letter;

static void system_v(void) {
  int queue = msgget(IPC_PRIVATE, 0600), segment, set;
  struct shmid_ds segment_status;
  struct msqid_ds queue_status;
  check(queue >= 0 && fails(msgget(4711, 0), ENOENT), "msgget");
  for (int i = 1; i <= 3; i++) {
    letter.type = i;
    snprintf(letter.text, sizeof(letter.text), "letter %d", i);
    check(msgsnd(queue, &letter, (size_t)i * 20, 0) == 0, "msgsnd");
  }
  check(msgctl(queue, IPC_STAT, &queue_status) == 0 && queue_status.msg_qnum == 3, "three letters");
  check(msgrcv(queue, &letter, 100, 2, 0) == 40 && letter.type == 2, "one of a type");
  check(strcmp(letter.text, "letter 2") == 0, "its text");
  check(fails(msgrcv(queue, &letter, 10, 0, 0), E2BIG), "too long");
  check(msgrcv(queue, &letter, 100, -5, 0) == 20 && letter.type == 1, "the lowest");
  check(msgrcv(queue, &letter, 100, 0, 0) == 60, "the first");
  check(fails(msgrcv(queue, &letter, 100, 0, IPC_NOWAIT), ENOMSG), "none is left");
  pid_t child = fork();
  if (child == 0) {
    long got = msgrcv(queue, &letter, 100, 0, 0);
    _exit(got == -1 && errno == EIDRM ? 7 : 1);
  }
  nanosleep(&(struct timespec){.tv_nsec = 30000000}, NULL);
  check(msgctl(queue, IPC_RMID, NULL) == 0, "removing it");
  finish(child, 7 << 8, "who waited for it");
  check(fails(msgsnd(queue, &letter, 1, 0), EINVAL), "it is gone");

  set = semget(4712, 3, IPC_CREAT | IPC_EXCL | 0600);
  check(set >= 0 && semget(4712, 3, 0) == set, "semget");
  check(semctl(set, 1, SETVAL, 2) == 0 && semctl(set, 1, GETVAL) == 2, "semctl");
  struct sembuf both[2] = {{1, -2, 0}, {2, -1, IPC_NOWAIT}}, up = {2, 1, 0};
  check(fails(semop(set, both, 2), EAGAIN) && semctl(set, 1, GETVAL) == 2, "all or nothing");
  both[1].sem_flg = 0;
  if ((child = fork()) == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
    _exit(semop(set, &up, 1) != 0);
  }
  check(semop(set, both, 2) == 0 && semctl(set, 1, GETVAL) == 0, "waiting for one");
  finish(child, 0, "who raised it");
  check(semctl(set, 0, IPC_RMID) == 0 && fails(semctl(set, 0, GETVAL), EINVAL), "removing it");

  segment = shmget(IPC_PRIVATE, 10000, 0600);
  char *memory = shmat(segment, NULL, 0);
  check(segment >= 0 && memory != (void *)-1 && memory[9999] == 0, "shared memory");
  if ((child = fork()) == 0) {
    memory[9999] = 42;
    char *other = shmat(segment, NULL, 0);
    other[0] = 43;
    _exit(other == memory || shmdt(other) != 0);
  }
  finish(child, 0, "who wrote");
  check(memory[9999] == 42 && memory[0] == 43, "what it wrote");
  check(shmctl(segment, IPC_STAT, &segment_status) == 0 && segment_status.shm_nattch == 1 &&
            segment_status.shm_segsz == 10000, "its size");
  check(shmctl(segment, IPC_RMID, NULL) == 0 && memory[0] == 43, "removed, but there");
  check(shmdt(memory) == 0 && fails(shmdt(memory), EINVAL), "shmdt");
  check(fails((long)shmat(segment, NULL, 0), EINVAL), "it is gone");
}

static void others(void) {
  /* Tests that fork() preserves the x87's registers, and tests vfork(). */
  long double pi;
  __asm__ volatile("fldpi");
  pid_t child = fork();
  __asm__ volatile("fstpt %0" : "=m"(pi));
  if (child == 0) _exit(pi > 3.14L && pi < 3.15L ? 9 : 1);
  finish(child, 9 << 8, "x87 over fork");
  check(pi > 3.14L && pi < 3.15L, "x87 after fork");
  struct timespec before, after;
  clock_gettime(CLOCK_MONOTONIC, &before);
  if ((child = vfork()) == 0) {
    nanosleep(&(struct timespec){.tv_nsec = 50000000}, NULL);
    _exit(3);
  }
  clock_gettime(CLOCK_MONOTONIC, &after);
  check((after.tv_sec - before.tv_sec) * 1000 + (after.tv_nsec - before.tv_nsec) / 1000000 >= 40,
        "vfork waits");
  finish(child, 3 << 8, "its child");
}

int main(int argc, char **argv) {
  if (argc > 100) return started(argc, argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  errors();
  signals();
  groups();
  links();
  sockets();
  system_v();
  others();
  files();
  waiting();
  processes();
  programs(argv[0]);
  printf("%s\n", wrong ? "failed" : "all is well");
  return wrong;
}
