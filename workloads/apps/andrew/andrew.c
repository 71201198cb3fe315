// SPDX-License-Identifier: MIT
/*
 * andrew: the four phases of the modified Andrew benchmark that precede its compilation phase
 * (tree.h). workloads/apps/andrew-make has all five phases, on guests with a compiler.
 *
 *   copy=in-process   this program opens, reads, writes and closes the files
 *   copy=command      a new process runs `busybox cp` for each file; according to ousterhout90, the
 *                     modified benchmark creates this number of processes
 */
#define TREE_COPY "/bin/busybox"
#include "tree.h"

static const char directory[] = "p5lab-andrew";

static void tree_path(char *path, const char *root, long n) {
  char place[TREE_PATH_SIZE];
  tree_directory(place, root, n % tree_directories);
  snprintf(path, TREE_PATH_SIZE, "%.54s/f%02d.c", place, (int)n);
}

static void generate(const char *root) {
  tree_make_directories(root);
  tree_expected.directories = tree_directories;
  for (long i = 0; i < tree_files; i++) {
    char path[TREE_PATH_SIZE];
    long size = tree_file_size(i);
    int file = tree_create(path, root, i);
    data_fill(tree_buffer, size, 0, (uint32_t)i);
    tree_write(file, path, size);
  }
}

static void remove_tree(const char *root) {
  char path[TREE_PATH_SIZE];
  for (long i = tree_files - 1; i >= 0; i--) {
    tree_path(path, root, i);
    if (unlink(path) != 0) p5w_fail(path);
  }
  for (long i = tree_directories - 1; i >= 0; i--) {
    tree_directory(path, root, i);
    if (rmdir(path) != 0) p5w_fail(path);
  }
}

static void iteration(void) {
  tree_phases();
  remove_tree("copy");
}

int main(int argc, char **argv) {
  long iterations = 1, warmup = 1, filesystem = DATA_DISK;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"files", "files of the tree, at most 100", &tree_files, 1, NULL},
      {"kilobytes", "KB in all of them, at most 60 for seven files", &tree_kilobytes, 1, NULL},
      {"directories", "directories of the tree, at most 84", &tree_directories, 1, NULL},
      {"copy", "by this program, or by a command for each file", &tree_copy, 0, tree_copies},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  if (tree_files > 100 || tree_directories > 84 || tree_kilobytes * 7 > 60 * tree_files) {
    fprintf(stderr, "%s: files must be at most 100, directories 84, and kilobytes %ld\n", argv[0],
            60 * tree_files / 7);
    return P5W_EXIT_USAGE;
  }
  if (tree_copy == TREE_COMMAND && access(TREE_COPY, X_OK) != 0) {
    fprintf(stderr, "%s: needs it to copy files\n", TREE_COPY);
    return P5W_EXIT_UNAVAILABLE;
  }
  data_mount(filesystem);
  data_enter(directory);
  generate("source");
  data_sync();

  p5w_repeat(iteration, warmup, iterations);
  remove_tree("source");
  data_leave(directory);
  return 0;
}
