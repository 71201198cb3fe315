// SPDX-License-Identifier: MIT
/*
 * test-unix: what a UNIX does, and what it says when asked for what it cannot. The same source passes
 * on guest linux (tests/e2e/test_mach.py). Prints a line for each thing that is wrong; the exit
 * status says whether there was any.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/syscall.h>
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

/* Whether a call failed, and for that reason. */
static int fails(long result, int reason) { return result == -1 && errno == reason; }

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
  /* Killed while it runs, while it sleeps, while it waits for a pipe, and for a child. */
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

int main(int argc, char **argv) {
  if (argc > 100) return started(argc, argv);
  setvbuf(stdout, NULL, _IOLBF, 0);
  errors();
  files();
  waiting();
  processes();
  programs(argv[0]);
  printf("%s\n", wrong ? "failed" : "all is well");
  return wrong;
}
