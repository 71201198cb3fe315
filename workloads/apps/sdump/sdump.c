// SPDX-License-Identifier: MIT
/*
 * sdump: a reader sends files of 1 MB over a pipe to a process that drops them or writes them to
 * the disk (wpi92 section 4.3: Sdump, like the program dump). Phase 0 brackets all files, from the
 * first read to the end of the writing process.
 *
 * The paper prints the size of a file. In the paper, the number of files is a parameter. We chose
 * one pipe, and records of 10 KB. BSD's dump also writes records of this size to a tape. At the
 * start no file is in the file cache. The writer checks the data that it drops. Data on the disk
 * are read back outside of the bracket.
 */
#include "child.h"
#include "transfer.h"

#define RECORD 10240
#define COPY "copy"

enum output { NOWHERE, DISK };
static const char *const outputs[] = {"null", "disk", NULL};

static const char directory[] = "p5lab-sdump";
static long files = 2, kb = 1024, output = NOWHERE, filesystem = DATA_DISK;
static struct transfer file;
static char (*names)[12];

/* The writing process. It receives all files, one after the other. */
static _Noreturn void writer(int from) {
  int to = open(output == DISK ? COPY : "/dev/null", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (to < 0) p5w_fail("output");
  for (file.key = 0; file.key < (uint32_t)files; file.key++) {
    for (long at = 0; at < kb << 10; at += RECORD) {
      long size = transfer_size(&file, at);
      for (long have = 0; have < size;) { /* a read may return less than a record */
        ssize_t count = read(from, file.buffer + have, (size_t)(size - have));
        if (count <= 0) p5w_fail("pipe: read");
        have += count;
      }
      if (output == NOWHERE) data_check_marks(file.buffer, size, at, file.key, "pipe");
      data_write(to, file.buffer, size, "output");
    }
  }
  if (close(to) != 0) p5w_fail("output");
  exit(0);
}

static void iteration(void) {
  int ends[2];
  data_drop_caches();
  if (pipe(ends) != 0) p5w_fail("pipe");
  p5_begin(0);
  pid_t child = fork();
  if (child == 0) {
    close(ends[1]);
    writer(ends[0]);
  }
  close(ends[0]);
  for (long i = 0; i < files; i++) {
    file.name = names[i];
    int descriptor = transfer_open(&file, O_RDONLY);
    for (long at = 0; at < kb << 10; at += RECORD) {
      long size = transfer_size(&file, at);
      data_read(descriptor, file.buffer, size, names[i]);
      data_write(ends[1], file.buffer, size, "pipe");
    }
    close(descriptor);
  }
  close(ends[1]);
  child_wait(child);
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 1, warmup = 1;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"files", "files that are sent", &files, 1, NULL},
      {"kb", "size of a file in KB", &kb, 1, NULL},
      {"output", "null or disk", &output, 0, outputs},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  file = transfer_new(kb, RECORD, "file");
  data_mount(filesystem);
  data_enter(directory);
  names = data_names(files);
  for (long i = 0; i < files; i++) {
    file.name = names[i];
    file.key = (uint32_t)i;
    transfer_fill(&file);
    int descriptor = transfer_open(&file, O_WRONLY | O_CREAT | O_TRUNC);
    transfer_write(&file, descriptor);
    close(descriptor);
  }

  p5w_repeat(iteration, warmup, iterations);
  if (output == DISK) {
    data_drop_caches();
    file.name = COPY;
    int descriptor = transfer_open(&file, O_RDONLY);
    for (file.key = 0; file.key < (uint32_t)files; file.key++) transfer_check(&file, descriptor);
    close(descriptor);
    if (unlink(COPY) != 0) p5w_fail(COPY);
  }
  for (long i = 0; i < files; i++)
    if (unlink(names[i]) != 0) p5w_fail(names[i]);
  data_leave(directory);
  return 0;
}
