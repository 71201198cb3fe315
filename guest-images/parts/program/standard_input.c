// SPDX-License-Identifier: MIT
/*
 * The standard input of a program of the user (`run --program FILE.c --stdin FILE`).
 *
 * p5lab links this file into the program, and appends the input and its length (8 bytes) to the
 * program's file. Before main(), the input becomes a file without a name, which is descriptor 0. So
 * the program can read, seek and map its standard input as with `< FILE` in a shell.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/sendfile.h>
#include <unistd.h>

#define STATUS_NOT_RUN 127 /* as in a shell: the program could not be started */

static _Noreturn void refuse(void) {
  dprintf(STDERR_FILENO, "p5lab: standard input: %s\n", strerror(errno));
  _exit(STATUS_NOT_RUN);
}

/* The priorities up to 100 belong to the C library, so 101 comes before all other constructors. */
__attribute__((constructor(101))) static void take_standard_input(void) {
  uint64_t left;
  int program = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  int input = open("/tmp", O_TMPFILE | O_RDWR, 0600);
  off_t end = lseek(program, -(off_t)sizeof(left), SEEK_END);
  if (program < 0 || input < 0 || end < 0) refuse();
  if (read(program, &left, sizeof(left)) != sizeof(left)) refuse();
  off_t at = end - (off_t)left;
  while (left > 0) {
    ssize_t copied = sendfile(input, program, &at, left);
    if (copied <= 0) refuse();
    left -= (uint64_t)copied;
  }
  if (lseek(input, 0, SEEK_SET) != 0 || dup2(input, STDIN_FILENO) < 0) refuse();
  close(program);
  if (input != STDIN_FILENO) close(input);
}
