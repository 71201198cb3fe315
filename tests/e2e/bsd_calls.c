/* SPDX-License-Identifier: MIT */
/* Every call of the C library for BSD (guest-images/parts/musl-bsd), with a result that a wrong
 * number or a wrong layout of the arguments cannot give. Ends with the number of the line that is
 * wrong. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define CHECK(condition)                                                                  \
  do {                                                                                    \
    if (!(condition)) {                                                                   \
      fprintf(stderr, "bsd_calls: line %d: %s; errno %d\n", __LINE__, #condition, errno); \
      exit(1);                                                                            \
    }                                                                                     \
  } while (0)

static char buffer[8192];

static void files(void) {
  CHECK(mkdir("place", 0700) == 0);
  CHECK(mkdir("place", 0700) == -1 && errno == EEXIST);
  CHECK(chdir("place") == 0);
  CHECK(open("none", O_RDONLY) == -1 && errno == ENOENT);
  int file = open("file", O_RDWR | O_CREAT | O_EXCL, 0600);
  CHECK(file >= 3);
  CHECK(open("file", O_RDWR | O_CREAT | O_EXCL, 0600) == -1 && errno == EEXIST);
  CHECK(write(file, "0123456789", 10) == 10);
  CHECK(lseek(file, -4, SEEK_END) == 6);
  CHECK(read(file, buffer, 9) == 4 && memcmp(buffer, "6789", 4) == 0);
  CHECK(lseek(file, 5ll << 32 | 7, SEEK_SET) == (5ll << 32 | 7));
  CHECK(lseek(file, 0, SEEK_CUR) == (5ll << 32 | 7));
  CHECK(lseek(file, -1, SEEK_SET) == -1 && errno == EINVAL);
  CHECK(close(file) == 0 && close(file) == -1 && errno == EBADF);
  file = open("file", O_WRONLY | O_APPEND);
  CHECK(write(file, "ab", 2) == 2 && lseek(file, 0, SEEK_CUR) == 12 && close(file) == 0);
  file = open("file", O_RDWR | O_TRUNC);
  CHECK(lseek(file, 0, SEEK_END) == 0);
  memset(buffer, 'x', 4096), memset(buffer + 4096, 'y', 4096);
  CHECK(write(file, buffer, 8192) == 8192);
  const char *second = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 4096);
  CHECK(second != MAP_FAILED && second[0] == 'y' && second[4095] == 'y');
  CHECK(munmap((void *)second, 4096) == 0 && close(file) == 0);
  CHECK(access("file", R_OK) == 0 && access("none", R_OK) == -1 && errno == ENOENT);
  CHECK(readlink("file", buffer, 10) == -1 && errno == EINVAL);
  CHECK(chdir("..") == 0 && rmdir("place") == -1 && errno == ENOTEMPTY);
  CHECK(unlink("place/file") == 0 && rmdir("place") == 0);
  memset(buffer, 'n', 600), buffer[600] = '\0';
  CHECK(unlink(buffer) == -1 && errno == ENAMETOOLONG);
  sync();
}

static void memory(void) {
  char *pages = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  CHECK(pages != MAP_FAILED && pages[0] == 0 && pages[8191] == 0);
  pages[8191] = 1;
  CHECK(mprotect(pages, 4096, PROT_READ) == 0 && munmap(pages, 8192) == 0);
  char *many = malloc(200000), *one = malloc(1);
  CHECK(many && one && many != one);
  memset(many, 1, 200000);
  free(many), free(one);
}

static void between_processes(const char *self) {
  int ends[2], pair[2], status;
  CHECK(pipe(ends) == 0 && ends[0] != ends[1] && ends[0] >= 3 && ends[1] >= 3);
  CHECK(write(ends[0], "x", 1) == -1 && errno == EBADF);
  CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
  pid_t own = syscall(SYS_getpid), child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    pid_t numbers[2] = {own, syscall(SYS_getpid)};
    CHECK(write(ends[1], numbers, sizeof(numbers)) == sizeof(numbers));
    CHECK(write(pair[1], "s", 1) == 1);
    _exit(42);
  }
  pid_t numbers[2];
  CHECK(read(ends[0], numbers, sizeof(numbers)) == sizeof(numbers));
  CHECK(numbers[0] == own && numbers[1] == child && child != own && syscall(SYS_getpid) == own);
  CHECK(read(pair[0], buffer, 2) == 1 && buffer[0] == 's');
  CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 42);
  CHECK(waitpid(child, &status, 0) == -1 && errno == ECHILD);
  int copy = dup(ends[0]);
  CHECK(copy >= 3 && copy != ends[0] && close(copy) == 0);

  char *const arguments[] = {(char *)self, "second", "a b", NULL};
  char *const environment[] = {"NAME=value", NULL};
  child = vfork();
  if (child == 0) {
    execve(self, arguments, environment);
    _exit(127);
  }
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 43);
  CHECK(execve("none", arguments, environment) == -1 && errno == ENOENT);
}

int main(int argc, char **argv) {
  if (argc == 3 && strcmp(argv[1], "second") == 0) {
    CHECK(strcmp(argv[2], "a b") == 0 && strcmp(getenv("NAME"), "value") == 0 && !getenv("PATH"));
    return 43;
  }
  CHECK(argc == 1 && getenv("PATH"));
  files();
  memory();
  between_processes(argv[0]);
  const struct timespec shortest = {.tv_nsec = 1};
  CHECK(nanosleep(&shortest, NULL) == 0);
  printf("%d calls were right\n", 1);
  return 0;
}
