// SPDX-License-Identifier: MIT
/*
 * nfs_full: fills the 64 MB of the remote host's file server, and reports the errors that the
 * guest's system returns. There are no phases, because the program measures nothing.
 */
#include "data.h"

#define ROOM (64L << 20)
#define BLOCK 8192

static char block[BLOCK], answer[BLOCK];

/* Write a block to a file and wait for the server. Returns 0 or the error that the program
 * receives.
 */
static int stored(int file, long at) {
  if (pwrite(file, block, BLOCK, at) != BLOCK) return errno;
  return fsync(file) == 0 ? 0 : errno;
}

static void expect(const char *what, int wanted, int found) {
  printf("%s: %s\n", what, found ? strerror(found) : "done");
  if (wanted != found) exit(P5W_EXIT_FAILED);
}

static int create(const char *name) {
  int made = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
  if (made < 0) p5w_fail(name);
  return made;
}

int main(int argc, char **argv) {
  long filesystem = DATA_NFS_ASYNC;
  const struct p5w_option options[] = {DATA_FILESYSTEM(filesystem), {0}};
  p5w_start(argc, argv, options);
  data_mount(filesystem);
  data_enter("full");
  for (long i = 0; i < BLOCK; i++) block[i] = (char)(i * 7);
  int big = create("big"), small = create("small");

  expect("behind the end", ENOSPC, stored(big, ROOM));
  expect("longer than all", ENOSPC, ftruncate(big, ROOM + 1) == 0 ? 0 : errno);
  expect("all but a block", 0, ftruncate(big, ROOM - BLOCK) == 0 ? 0 : errno);
  expect("the last block", 0, stored(small, 0));
  expect("one more", ENOSPC, stored(small, BLOCK));
  if (close(big) != 0 || unlink("big") != 0) p5w_fail("big");
  expect("with room again", 0, stored(small, BLOCK));
  for (long at = 0; at < 2L * BLOCK; at += BLOCK) {
    if (pread(small, answer, BLOCK, at) != BLOCK) p5w_fail("small");
    expect("the same bytes", 0, memcmp(answer, block, BLOCK) == 0 ? 0 : EIO);
  }
  if (close(small) != 0 || unlink("small") != 0) p5w_fail("small");
  data_leave("full");
  return 0;
}
