/* SPDX-License-Identifier: MIT */
/*
 * What does init do in addition on a disk with a distribution for i386?
 *
 * Before the ready marker, init makes the devices that programs of a distribution expect. udev and
 * systemd make these devices on a PC, and none of the two runs here. init then runs the program of
 * the kernel parameter p5start, for example to start an X server.
 *
 * A job `@run PATH` may bring files along. The engine delivers them as one archive, in the place of
 * a program file. The archive has the format ustar (POSIX.1-1988) and contains only regular files.
 * init writes each file to its path. Two files have a special meaning: BROUGHT_INPUT is the
 * standard input of the program, and BROUGHT_ARGUMENTS contains the arguments of the program, each
 * with a zero byte at its end.
 */
#ifndef P5LAB_DISTRIBUTION_H
#define P5LAB_DISTRIBUTION_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
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
#define TAR_BLOCK 512
#define ABORT_NOT_STARTED 1 /* the program of p5start has failed */

/* The fields of a header in the format ustar. Numbers are octal. */
struct tar_header {
  char name[100], mode[8], uid[8], gid[8], size[12], time[12], checksum[8], kind, link[100],
      magic[6], version[2], owner[32], group[32], major[8], minor[8], prefix[155], unused[12];
};

/* The delivered archive, which is read from its begin to its end in pieces of 12 bytes. */
static struct {
  uint32_t offset;
  size_t first, count; /* the bytes of `piece` that are left */
  char piece[12];
} brought;

/* Read the next bytes of the archive. Returns the number of bytes, which is less than `length` only
 * at the end.
 */
static size_t brought_read(char* bytes, size_t length) {
  size_t done = 0;
  while (done < length) {
    if (brought.count == 0) {
      brought.first = 0;
      brought.count = p5_program(brought.offset, brought.piece);
      brought.offset += (uint32_t)brought.count;
      if (brought.count == 0) break;
    }
    size_t part = length - done < brought.count ? length - done : brought.count;
    memcpy(bytes + done, brought.piece + brought.first, part);
    brought.first += part, brought.count -= part, done += part;
  }
  return done;
}

/* Make the directories above a path. */
static void make_parents(char* path) {
  for (char* slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    mkdir(path, 0755);
    *slash = '/';
  }
}

/* Write `size` bytes of the archive, and skip the rest of the last block. Returns 0, or -1 with the
 * reason in errno.
 */
static int write_brought(int file, size_t size) {
  static char buffer[8 * TAR_BLOCK];
  while (size > 0) {
    size_t part = size < sizeof(buffer) ? size : sizeof(buffer);
    size_t padded = (part + TAR_BLOCK - 1) / TAR_BLOCK * TAR_BLOCK;
    if (brought_read(buffer, padded) != padded) return errno = EIO, -1;
    ssize_t written = write(file, buffer, part);
    if (written >= 0 && (size_t)written != part) errno = ENOSPC;
    if (written != (ssize_t)part) return -1;
    size -= part;
  }
  return 0;
}

/* Write all files of the archive. Returns 0, or -1 with the reason in errno and the path of the
 * file in `path`.
 */
static int unpack_brought(char* path, size_t path_size) {
  struct tar_header header;
  snprintf(path, path_size, "files");
  while (brought_read((char*)&header, sizeof(header)) == sizeof(header) && header.name[0]) {
    snprintf(path, path_size, "/%.155s%s%.100s", header.prefix, header.prefix[0] ? "/" : "",
             header.name);
    size_t size = strtoul(header.size, NULL, 8);
    mode_t mode = (mode_t)strtoul(header.mode, NULL, 8);
    make_parents(path);
    unlink(path); /* it may be a link to another file */
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, mode);
    if (file < 0) return -1;
    int result = write_brought(file, size);
    if (fchmod(file, mode) != 0 || close(file) != 0 || result != 0) return -1;
  }
  sync(); /* later writes would disturb the program */
  return 0;
}

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
