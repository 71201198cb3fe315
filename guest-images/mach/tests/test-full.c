// SPDX-License-Identifier: MIT
/*
 * test-full: fills a file system, first with one file and then with many files. Checks that the
 * written data are there, that removed files free their space, and that no other file was damaged.
 *
 *   test-full DIRECTORY
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PIECE 65536
#define FILES 300 /* largest number of files, if the disk has room for more */
#define SMALL 3000
#define MARK 64 /* bytes at both ends of a piece that identify it */

static char piece[PIECE], back[MARK];

static _Noreturn void fail(const char *what) {
  printf("wrong: %s (%s)\n", what, strerror(errno));
  exit(1);
}

static void mark_piece(long number) {
  for (size_t i = 0; i < MARK; i++)
    piece[i] = piece[PIECE - MARK + i] = (char)(number * 31 + (long)i * 7);
}

static int is_there(int file, long number) {
  long begin = number * PIECE, end = begin + PIECE - MARK;
  mark_piece(number);
  return pread(file, back, MARK, begin) == MARK && memcmp(back, piece, MARK) == 0 &&
         pread(file, back, MARK, end) == MARK && memcmp(back, piece, MARK) == 0;
}

/* Write one file until the disk is full. Returns the file's length. */
static long one_file(const char *path) {
  int file = open(path, O_RDWR | O_CREAT | O_TRUNC, 0600);
  long total = 0;
  ssize_t count;
  if (file < 0) fail("a file");
  for (long number = 0;; number++, total += count) {
    mark_piece(number);
    if ((count = write(file, piece, PIECE)) != PIECE) break;
  }
  if (count < 0 && errno != ENOSPC) fail("no room");
  if (count > 0) total += count;
  if (write(file, piece, PIECE) == PIECE) fail("room after all");
  for (long number = 0; number < total / PIECE; number++)
    if (!is_there(file, number)) {
      printf("wrong: piece %ld of %ld bytes\n", number, total);
      exit(1);
    }
  if (close(file) != 0) fail("close");
  return total;
}

/* Write files until the disk has no space for another file, and remove them. */
static int many_files(const char *directory) {
  char path[300];
  int made = 0, full = 0;
  while (made < FILES && !full) {
    snprintf(path, sizeof(path), "%s/small-%d", directory, made);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0 && errno != ENOSPC) fail("one of many");
    full = file < 0 || write(file, piece, SMALL) != SMALL;
    if (file >= 0) close(file), made++;
  }
  for (int i = 0; i < made; i++) {
    snprintf(path, sizeof(path), "%s/small-%d", directory, i);
    if (unlink(path) != 0) fail("removing one of many");
  }
  return made;
}

static void start_program(void) {
  int status = -1;
  pid_t child = fork();
  if (child == 0) {
    execl("/bin/true-static", "true-static", (char *)NULL);
    _exit(99);
  }
  if (waitpid(child, &status, 0) != child || status != 0) fail("a program");
}

int main(int argc, char **argv) {
  char directory[200], path[220];
  snprintf(directory, sizeof(directory), "%s/full", argc > 1 ? argv[1] : "/tmp");
  snprintf(path, sizeof(path), "%s/file", directory);
  if (mkdir(directory, 0700) != 0) fail("a directory");
  long first = one_file(path);
  if (first < 256 * 1024) fail("hardly any room");
  start_program(); /* while it is full */
  if (unlink(path) != 0) fail("unlink");
  int many = many_files(directory);
  if (many < 20) fail("hardly any files");
  long again = one_file(path);
  if (again < first - first / 8) fail("less room than before");
  if (truncate(path, first / 2) != 0) fail("truncate");
  if (many_files(directory) < 20) fail("no room after truncate()");
  if (unlink(path) != 0 || rmdir(directory) != 0) fail("rmdir");
  sync();
  start_program();
  printf("full, and empty again\n");
  return 0;
}
