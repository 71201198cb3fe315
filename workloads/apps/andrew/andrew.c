// SPDX-License-Identifier: MIT
/*
 * andrew: the four phases of the modified Andrew benchmark that precede its compilation phase
 * (ousterhout90 section 9, lai96 section 8). The phases are:
 *
 *   0   create the directories of a tree
 *   1   copy every file of a source tree into the new tree
 *   2   query the status of every file
 *   3   read every byte of every file
 *
 * The program generates the tree. The original tree has about 70 files with about 200 KB in total
 * (Howard and others, "Scale and Performance in a Distributed File System", 1988, section 4.1). We
 * estimate 20 directories, each with at most four subdirectories. We also estimate that the largest
 * file has seven times the size of the smallest file.
 *
 *   copy=in-process   this program opens, reads, writes and closes the files
 *   copy=command      a new process runs `busybox cp` for each file; according to ousterhout90, the
 *                     modified benchmark creates this number of processes
 */
#include <dirent.h>

#include "child.h"
#include "data.h"

#define BUSYBOX "/bin/busybox"
#define PATH_SIZE 64
#define FILE_MAX (64 << 10)
#define FAN_OUT 4

enum copy { IN_PROCESS, COMMAND };
static const char *const copies[] = {"in-process", "command", NULL};

enum phase { MAKE, COPY, STAT, READ };

static const char directory[] = "p5lab-andrew";
static long files = 70, kilobytes = 200, directories = 20, copy = IN_PROCESS;
static char buffer[FILE_MAX];

/* Counts of a walk through a tree. */
static struct tally {
  long directories, files, bytes;
  uint32_t sum; /* sum of the contents that were read */
} expected;

/* Path of the n-th directory below `root`. Number 0 is `root` itself. */
static void directory_path(char *path, const char *root, long n) {
  char names[PATH_SIZE] = "";
  for (; n > 0; n = (n - 1) / FAN_OUT) {
    char rest[PATH_SIZE];
    strcpy(rest, names);
    snprintf(names, sizeof(names), "/d%02d%.48s", (int)n, rest);
  }
  snprintf(path, PATH_SIZE, "%.10s%.50s", root, names);
}

static void file_path(char *path, const char *root, long n) {
  char place[PATH_SIZE];
  directory_path(place, root, n % directories);
  snprintf(path, PATH_SIZE, "%.54s/f%02d.c", place, (int)n);
}

/* The sizes have the proportions 1 to 7. Rounding does not change the sum of the sizes. */
static long file_size(long n) {
  long shares = 0, before = 0, own = 0;
  for (long i = 0; i < files; i++) {
    long share = 1 + i * 5 % 7;
    shares += share;
    if (i < n) before += share;
    if (i == n) own = share;
  }
  return kilobytes * 1024 * (before + own) / shares - kilobytes * 1024 * before / shares;
}

static uint32_t sum_of(const char *bytes, long size) {
  uint32_t sum = 0;
  for (long i = 0; i < size; i++) sum += (unsigned char)bytes[i];
  return sum;
}

static void make_directories(const char *root) {
  char path[PATH_SIZE];
  for (long i = 0; i < directories; i++) {
    directory_path(path, root, i);
    if (mkdir(path, 0700) != 0) p5w_fail(path);
  }
}

static void generate(const char *root) {
  make_directories(root);
  expected.directories = directories;
  for (long i = 0; i < files; i++) {
    char path[PATH_SIZE];
    long size = file_size(i);
    file_path(path, root, i);
    int file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (file < 0) p5w_fail(path);
    data_fill(buffer, size, 0, (uint32_t)i);
    data_write(file, buffer, size, path);
    if (close(file) != 0) p5w_fail(path);
    expected.files++;
    expected.bytes += size;
    expected.sum += sum_of(buffer, size);
  }
}

static void copy_by_command(const char *from, const char *to) {
  char *const arguments[] = {"cp", (char *)from, (char *)to, NULL}, *const environment[] = {NULL};
  pid_t child = fork();
  if (child == 0) {
    execve(BUSYBOX, arguments, environment);
    _exit(127);
  }
  child_wait(child);
}

static void copy_in_process(const char *from, const char *to) {
  int source = open(from, O_RDONLY), target = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
  if (source < 0 || target < 0) p5w_fail(to);
  for (ssize_t size; (size = read(source, buffer, sizeof(buffer))) != 0;) {
    if (size < 0) p5w_fail(from);
    data_write(target, buffer, size, to);
  }
  if (close(source) != 0 || close(target) != 0) p5w_fail(to);
}

static void copy_files(const char *from, const char *to) {
  for (long i = 0; i < files; i++) {
    char source[PATH_SIZE], target[PATH_SIZE];
    file_path(source, from, i);
    file_path(target, to, i);
    if (copy == COMMAND)
      copy_by_command(source, target);
    else
      copy_in_process(source, target);
  }
}

/* Add the bytes of a file to the result. */
static void read_file(const char *path, struct tally *found) {
  int file = open(path, O_RDONLY);
  if (file < 0) p5w_fail(path);
  for (ssize_t size; (size = read(file, buffer, sizeof(buffer))) != 0;) {
    if (size < 0) p5w_fail(path);
    found->bytes += size;
    found->sum += sum_of(buffer, size);
  }
  if (close(file) != 0) p5w_fail(path);
}

/* Walk through the tree below `root`. Query the status of every file, or read every file. */
static void walk(const char *root, enum phase phase, struct tally *found) {
  DIR *entries = opendir(root);
  if (!entries) p5w_fail(root);
  found->directories++;
  for (struct dirent *entry; (entry = readdir(entries));) {
    char path[PATH_SIZE];
    struct stat status;
    if (entry->d_name[0] == '.') continue;
    snprintf(path, sizeof(path), "%.46s/%.16s", root, entry->d_name);
    if (stat(path, &status) != 0) p5w_fail(path);
    if (S_ISDIR(status.st_mode)) {
      walk(path, phase, found);
      continue;
    }
    found->files++;
    if (phase == STAT) found->bytes += status.st_size;
    if (phase == READ) read_file(path, found);
  }
  closedir(entries);
}

static void check(enum phase phase, const struct tally *found) {
  if (found->directories == expected.directories && found->files == expected.files &&
      found->bytes == expected.bytes && (phase == STAT || found->sum == expected.sum))
    return;
  fprintf(stderr,
          "andrew: the copy has %ld directories, %ld files, %ld bytes with the sum %#x; expected "
          "%ld, %ld, %ld, %#x\n",
          found->directories, found->files, found->bytes, (unsigned)found->sum,
          expected.directories, expected.files, expected.bytes, (unsigned)expected.sum);
  exit(P5W_EXIT_FAILED);
}

static void walk_phase(enum phase phase) {
  struct tally found = {0};
  p5_begin(phase);
  walk("copy", phase, &found);
  p5_end(phase);
  check(phase, &found);
}

static void remove_tree(const char *root) {
  char path[PATH_SIZE];
  for (long i = files - 1; i >= 0; i--) {
    file_path(path, root, i);
    if (unlink(path) != 0) p5w_fail(path);
  }
  for (long i = directories - 1; i >= 0; i--) {
    directory_path(path, root, i);
    if (rmdir(path) != 0) p5w_fail(path);
  }
}

static void iteration(void) {
  p5_begin(MAKE);
  make_directories("copy");
  p5_end(MAKE);
  p5_begin(COPY);
  copy_files("source", "copy");
  p5_end(COPY);
  walk_phase(STAT);
  walk_phase(READ);
  remove_tree("copy");
}

int main(int argc, char **argv) {
  long iterations = 1, warmup = 1, filesystem = DATA_DISK;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"files", "files of the tree, at most 100", &files, 1, NULL},
      {"kilobytes", "KB in all of them, at most 60 for seven files", &kilobytes, 1, NULL},
      {"directories", "directories of the tree, at most 84", &directories, 1, NULL},
      {"copy", "by this program, or by a command for each file", &copy, 0, copies},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  if (files > 100 || directories > 84 || kilobytes * 7 > 60 * files) {
    fprintf(stderr, "%s: files must be at most 100, directories 84, and kilobytes %ld\n", argv[0],
            60 * files / 7);
    return P5W_EXIT_USAGE;
  }
  if (copy == COMMAND && access(BUSYBOX, X_OK) != 0) {
    fprintf(stderr, "%s: needs it to copy files\n", BUSYBOX);
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
