/* SPDX-License-Identifier: MIT */
/*
 * The source tree of the Andrew benchmark, and its phases before the compilation (ousterhout90
 * section 9, lai96 section 8). The phases are:
 *
 *   0   create the directories of a tree
 *   1   copy every file of a source tree into the new tree
 *   2   query the status of every file
 *   3   read every byte of every file
 *
 * The original tree has about 70 files with about 200 KB in total (Howard and others, "Scale and
 * Performance in a Distributed File System", 1988, section 4.1). We estimate 20 directories, each
 * with at most four subdirectories. We also estimate that the largest file has seven times the size
 * of the smallest file.
 *
 * The program defines tree_path(), which names the files, and the macro TREE_COPY, the command that
 * copies a file with copy=command. It generates the tree by tree_create() and tree_write().
 */
#ifndef P5LAB_TREE_H
#define P5LAB_TREE_H

#include <dirent.h>

#include "child.h"
#include "data.h"

#define TREE_PATH_SIZE 64
#define TREE_FILE_MAX (64 << 10)
#define TREE_FAN_OUT 4

enum tree_copy { TREE_IN_PROCESS, TREE_COMMAND };
static const char *const tree_copies[] = {"in-process", "command", NULL};

enum tree_phase { TREE_MAKE, TREE_COPYING, TREE_STAT, TREE_READ };

static long tree_files = 70, tree_kilobytes = 200, tree_directories = 20;
static long tree_copy = TREE_IN_PROCESS;
static char tree_buffer[TREE_FILE_MAX];

/* Counts of a walk through a tree. */
static struct tree_tally {
  long directories, files, bytes;
  uint32_t sum; /* sum of the contents that were read */
} tree_expected;

/* The path of the n-th file below `root`. */
static void tree_path(char *path, const char *root, long n);

/* Path of the n-th directory below `root`. Number 0 is `root` itself. */
static void tree_directory(char *path, const char *root, long n) {
  char names[TREE_PATH_SIZE] = "";
  for (; n > 0; n = (n - 1) / TREE_FAN_OUT) {
    char rest[TREE_PATH_SIZE];
    strcpy(rest, names);
    snprintf(names, sizeof(names), "/d%02d%.48s", (int)n, rest);
  }
  snprintf(path, TREE_PATH_SIZE, "%.10s%.50s", root, names);
}

/* The sizes have the proportions 1 to 7. Rounding does not change the sum of the sizes. */
static long tree_file_size(long n) {
  long shares = 0, before = 0, own = 0;
  for (long i = 0; i < tree_files; i++) {
    long share = 1 + i * 5 % 7;
    shares += share;
    if (i < n) before += share;
    if (i == n) own = share;
  }
  return tree_kilobytes * 1024 * (before + own) / shares - tree_kilobytes * 1024 * before / shares;
}

static uint32_t tree_sum(const char *bytes, long size) {
  uint32_t sum = 0;
  for (long i = 0; i < size; i++) sum += (unsigned char)bytes[i];
  return sum;
}

static void tree_make_directories(const char *root) {
  char path[TREE_PATH_SIZE];
  for (long i = 0; i < tree_directories; i++) {
    tree_directory(path, root, i);
    if (mkdir(path, 0700) != 0) p5w_fail(path);
  }
}

/* Create the n-th file of the source tree, and put its path into `path`. */
static int tree_create(char *path, const char *root, long n) {
  tree_path(path, root, n);
  int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (file < 0) p5w_fail(path);
  return file;
}

/* Write the first `size` bytes of tree_buffer to a new file of the source tree. */
static void tree_write(int file, const char *path, long size) {
  data_write(file, tree_buffer, size, path);
  if (close(file) != 0) p5w_fail(path);
  tree_expected.files++;
  tree_expected.bytes += size;
  tree_expected.sum += tree_sum(tree_buffer, size);
}

static void tree_copy_by_command(const char *from, const char *to) {
  char *const arguments[] = {"cp", (char *)from, (char *)to, NULL}, *const environment[] = {NULL};
  pid_t child = fork();
  if (child == 0) {
    execve(TREE_COPY, arguments, environment);
    _exit(127);
  }
  child_wait(child);
}

static void tree_copy_in_process(const char *from, const char *to) {
  int source = open(from, O_RDONLY), target = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (source < 0 || target < 0) p5w_fail(to);
  for (ssize_t size; (size = read(source, tree_buffer, sizeof(tree_buffer))) != 0;) {
    if (size < 0) p5w_fail(from);
    data_write(target, tree_buffer, size, to);
  }
  if (close(source) != 0 || close(target) != 0) p5w_fail(to);
}

static void tree_copy_files(const char *from, const char *to) {
  for (long i = 0; i < tree_files; i++) {
    char source[TREE_PATH_SIZE], target[TREE_PATH_SIZE];
    tree_path(source, from, i);
    tree_path(target, to, i);
    if (tree_copy == TREE_COMMAND)
      tree_copy_by_command(source, target);
    else
      tree_copy_in_process(source, target);
  }
}

/* Add the bytes of a file to the result. */
static void tree_read_file(const char *path, struct tree_tally *found) {
  int file = open(path, O_RDONLY);
  if (file < 0) p5w_fail(path);
  for (ssize_t size; (size = read(file, tree_buffer, sizeof(tree_buffer))) != 0;) {
    if (size < 0) p5w_fail(path);
    found->bytes += size;
    found->sum += tree_sum(tree_buffer, size);
  }
  if (close(file) != 0) p5w_fail(path);
}

/* Walk through the tree below `root`. Query the status of every file, or read every file. */
static void tree_walk(const char *root, enum tree_phase phase, struct tree_tally *found) {
  DIR *entries = opendir(root);
  if (!entries) p5w_fail(root);
  found->directories++;
  for (struct dirent *entry; (entry = readdir(entries));) {
    char path[TREE_PATH_SIZE];
    struct stat status;
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "%.46s/%.16s", root, entry->d_name);
    if (stat(path, &status) != 0) p5w_fail(path);
    if (S_ISDIR(status.st_mode)) {
      tree_walk(path, phase, found);
      continue;
    }
    found->files++;
    if (phase == TREE_STAT) found->bytes += status.st_size;
    if (phase == TREE_READ) tree_read_file(path, found);
  }
  closedir(entries);
}

static void tree_check(enum tree_phase phase, const struct tree_tally *found) {
  if (found->directories == tree_expected.directories && found->files == tree_expected.files &&
      found->bytes == tree_expected.bytes &&
      (phase == TREE_STAT || found->sum == tree_expected.sum))
    return;
  fprintf(stderr,
          "andrew: the copy has %ld directories, %ld files, %ld bytes with the sum %#x; expected "
          "%ld, %ld, %ld, %#x\n",
          found->directories, found->files, found->bytes, (unsigned)found->sum,
          tree_expected.directories, tree_expected.files, tree_expected.bytes,
          (unsigned)tree_expected.sum);
  exit(P5W_EXIT_FAILED);
}

static void tree_walk_phase(enum tree_phase phase) {
  struct tree_tally found = {0};
  p5_begin(phase);
  tree_walk("copy", phase, &found);
  p5_end(phase);
  tree_check(phase, &found);
}

/* The four phases: `copy` becomes a copy of `source`. */
static void tree_phases(void) {
  p5_begin(TREE_MAKE);
  tree_make_directories("copy");
  p5_end(TREE_MAKE);
  p5_begin(TREE_COPYING);
  tree_copy_files("source", "copy");
  p5_end(TREE_COPYING);
  tree_walk_phase(TREE_STAT);
  tree_walk_phase(TREE_READ);
}

#endif
