// SPDX-License-Identifier: MIT
/*
 * andrew-make: the five phases of the modified Andrew benchmark (ousterhout90 section 9, lai96
 * section 8): the four of tree.h, and
 *
 *   4   compile the copy of the tree, and link the program
 *
 * and phase 5 around all of them. gcc, make and, with copy=command, the `cp` of each file are those
 * of the guest. sources.h has the tree.
 *
 * A first make, before all brackets, compiles and links one line. So the files of the compiler are
 * in the file cache of the guest if there is room for them.
 */
#define TREE_COPY "/bin/cp"
#include "tree.h"

#include "sources.h"

#define MAKE "/usr/bin/make"
#define GCC "/usr/bin/gcc"
#define FIRST "first"

enum { COMPILING = TREE_READ + 1, ALL };

static const char directory[] = "p5lab-andrew-make";

/* Run a program in a directory, and wait for it. */
static void run(const char *place, const char *program, const char *argument) {
  char *const arguments[] = {(char *)program, (char *)argument, NULL};
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    if (chdir(place) == 0) execv(program, arguments);
    perror(program);
    _exit(127);
  }
  child_wait(child);
}

/* Remove a directory and all files below it. */
static void remove_all(const char *root) {
  DIR *entries = opendir(root);
  if (!entries) p5w_fail(root);
  for (struct dirent *entry; (entry = readdir(entries));) {
    char path[TREE_PATH_SIZE];
    struct stat status;
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "%.46s/%.16s", root, entry->d_name);
    if (lstat(path, &status) != 0) p5w_fail(path);
    if (S_ISDIR(status.st_mode))
      remove_all(path);
    else if (unlink(path) != 0)
      p5w_fail(path);
  }
  closedir(entries);
  if (rmdir(root) != 0) p5w_fail(root);
}

static void write_text(const char *path, const char *content) {
  FILE *file = fopen(path, "w");
  if (!file || fputs(content, file) < 0 || fclose(file) != 0) p5w_fail(path);
}

static void read_compiler(void) {
  if (mkdir(FIRST, 0700) != 0) p5w_fail(FIRST);
  write_text(FIRST "/first.c", "void _start(void) { for (;;) continue; }\n");
  write_text(FIRST "/Makefile", "first: first.c\n\tgcc " COMPILE " -c first.c\n"
                                "\tgcc " LINK " -o first first.o\n");
  run(FIRST, MAKE, "-s");
  if (tree_copy == TREE_COMMAND) tree_copy_by_command(FIRST "/first.c", FIRST "/copy.c");
  remove_all(FIRST);
}

/* Print the sum of the linked program's bytes, and let the program print its own result. Only
 * 32-bit kernels run it.
 */
static void show_program(void) {
  static const char path[] = "copy/program";
  struct tree_tally found = {0};
  tree_read_file(path, &found);
  printf("program: %ld bytes with the sum %#x\n", found.bytes, (unsigned)found.sum);
#ifdef __i386__
  run("copy", "./program", NULL);
#endif
}

static void iteration(void) {
  p5_begin(ALL);
  tree_phases();
  p5_begin(COMPILING);
  run("copy", MAKE, "-s");
  p5_end(COMPILING);
  p5_end(ALL);
  show_program();
  remove_all("copy");
}

static void check_file(const char *path, const char *package) {
  if (access(path, X_OK) == 0) return;
  fprintf(stderr, "andrew-make: %s: %s; make the image with package %s\n", path, strerror(errno),
          package);
  exit(P5W_EXIT_UNAVAILABLE);
}

int main(int argc, char **argv) {
  long iterations = 1, warmup = 0, filesystem = DATA_DISK;
  tree_copy = TREE_COMMAND;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"files", "files of the tree, at most 100", &tree_files, 4, NULL},
      {"kilobytes", "KB in all of them, at most 60 for seven files", &tree_kilobytes, 1, NULL},
      {"directories", "directories of the tree, fewer than files - 2", &tree_directories, 1, NULL},
      {"copy", "by this program, or by a command for each file", &tree_copy, 0, tree_copies},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  if (tree_files > 100 || tree_directories > tree_files - 3 || tree_directories > 84 ||
      tree_kilobytes * 7 > 60 * tree_files) {
    fprintf(stderr,
            "%s: files must be at most 100, directories at most 84 and %ld, and kilobytes %ld\n",
            argv[0], tree_files - 3, 60 * tree_files / 7);
    return P5W_EXIT_USAGE;
  }
  check_file(GCC, "gcc");
  check_file(MAKE, "make");
  data_mount(filesystem);
  data_enter(directory);
  generate("source");
  read_compiler();
  data_sync();

  p5w_repeat(iteration, warmup, iterations);
  remove_all("source");
  data_leave(directory);
  return 0;
}
