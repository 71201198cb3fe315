/* SPDX-License-Identifier: MIT */
/*
 * What does init do in addition on a disk with a distribution for i386?
 *
 * Before the ready marker, init makes the devices that programs of a distribution expect. udev and
 * systemd make these devices on a PC, and none of the two runs here. init then runs the program of
 * the kernel parameter p5start, for example to start an X server.
 *
 * A job `@run PATH` may bring files along (delivered.h). Two files have a special meaning:
 * BROUGHT_INPUT is the standard input of the program, and BROUGHT_ARGUMENTS contains the arguments
 * of the program, each with a zero byte at its end.
 */
#ifndef P5LAB_DISTRIBUTION_H
#define P5LAB_DISTRIBUTION_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "marker.h"

#define BROUGHT_INPUT "/p5/stdin"
#define BROUGHT_ARGUMENTS "/p5/arguments"
#define BROUGHT_ARGUMENTS_SIZE 65536
#define BROUGHT_HOME "/root"
#define ABORT_NOT_STARTED 1 /* the program of p5start has failed */

/* Append the arguments of BROUGHT_ARGUMENTS to `arguments`, which has `most` places. Returns 0, or
 * -1 with the reason in errno.
 */
static int read_arguments(char** arguments, int most) {
  static char text[BROUGHT_ARGUMENTS_SIZE + 1];
  int file = open(BROUGHT_ARGUMENTS, O_RDONLY), count = 0;
  if (file < 0) return errno == ENOENT ? 0 : -1;
  ssize_t length = read(file, text, BROUGHT_ARGUMENTS_SIZE);
  close(file);
  if (length < 0) return -1;
  while (arguments[count]) count++;
  for (char* one = text; one < text + length; one += strlen(one) + 1) {
    if (count == most) return errno = E2BIG, -1;
    arguments[count++] = one;
  }
  arguments[count] = NULL;
  return 0;
}

/* Replace the standard input by the file that the job brings along, or by /dev/null. */
static void take_input(void) {
  int input = open(BROUGHT_INPUT, O_RDONLY);
  if (input < 0) input = open("/dev/null", O_RDONLY);
  dup2(input, STDIN_FILENO);
  if (input != STDIN_FILENO) close(input);
}

/* Make the devices and the environment of a program. */
static void prepare_distribution(void) {
  static const char* const links[][2] = {{"/proc/self/fd", "/dev/fd"},
                                         {"/proc/self/fd/0", "/dev/stdin"},
                                         {"/proc/self/fd/1", "/dev/stdout"},
                                         {"/proc/self/fd/2", "/dev/stderr"}};
  for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++)
    if (symlink(links[i][0], links[i][1]) != 0)
      fprintf(stderr, "init: %s: %s\n", links[i][1], strerror(errno));
  static const char* const mounts[][2] = {{"devpts", "/dev/pts"}, {"tmpfs", "/dev/shm"}};
  for (size_t i = 0; i < sizeof(mounts) / sizeof(mounts[0]); i++) {
    mkdir(mounts[i][1], 0755);
    if (mount(mounts[i][0], mounts[i][1], mounts[i][0], 0, NULL) != 0)
      fprintf(stderr, "init: mount %s: %s\n", mounts[i][1], strerror(errno));
  }
  setenv("HOME", BROUGHT_HOME, 1);
  if (chdir(BROUGHT_HOME) != 0) perror("init: " BROUGHT_HOME);
}

/* Run the program of the kernel parameter p5start=PATH to its end, before the ready marker. The
 * kernel puts unknown parameters into init's environment. What the program leaves running belongs to
 * the boot that several runs share. If the program fails, the run fails.
 */
static void start_before_ready(void) {
  const char* path = getenv("p5start");
  int status = 0;
  if (!path) return;
  pid_t child = fork();
  if (child == 0) {
    execl(path, path, NULL);
    fprintf(stderr, "init: %s: %s\n", path, strerror(errno));
    _exit(127);
  }
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (status == 0) return;
  fprintf(stderr, "init: %s: status %d\n", path,
          WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status));
  tcdrain(STDERR_FILENO); /* the text is on the serial line */
  p5_marker_init();
  p5_abort(ABORT_NOT_STARTED);
}

#endif
