// SPDX-License-Identifier: MIT
/*
 * test-power-cut: creates files, writes some of them to the disk, removes others, and prints each
 * step, until the power is cut. tests/e2e/test_power_cut.py checks the contents of the disk.
 *
 * The program prints a line when a call has returned: `created N`, `synced N`, `removed N`.
 */
#include "data.h"

#define BYTES 3000

static void say(const char *what, long number) {
  char line[32];
  int length = snprintf(line, sizeof(line), "%s %ld\n", what, number);
  if (write(STDOUT_FILENO, line, (size_t)length) != length) p5w_fail("stdout");
}

int main(int argc, char **argv) {
  long files = 200, filesystem = DATA_EXT2_SYNC;
  const struct p5w_option options[] = {
      {"files", "files that are made", &files, 1, NULL}, DATA_FILESYSTEM(filesystem), {0}};
  p5w_start(argc, argv, options);
  data_mount(filesystem);
  data_enter("cut");
  char *buffer = data_buffer(BYTES);
  for (long i = 0; i < files; i++) {
    char name[24];
    snprintf(name, sizeof(name), "%ld", i);
    p5_begin(0);
    int descriptor = open(name, O_WRONLY | O_CREAT | O_EXCL, 0600);
    if (descriptor < 0) p5w_fail(name);
    p5_end(0);
    say("created", i);
    if (i % 3 == 0) {
      data_fill(buffer, BYTES, 0, (uint32_t)i);
      data_write(descriptor, buffer, BYTES, name);
      if (fsync(descriptor) != 0) p5w_fail(name);
      say("synced", i);
    }
    close(descriptor);
    if (i % 4 != 3) continue;
    snprintf(name, sizeof(name), "%ld", i - 2);
    if (unlink(name) != 0) p5w_fail(name);
    say("removed", i - 2);
  }
  return 0; /* the file system stays mounted */
}
