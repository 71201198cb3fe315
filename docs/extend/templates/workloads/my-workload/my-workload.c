// SPDX-License-Identifier: MIT
/* A template: copy the folder, and give the folder and this file the same new name.
 * Phase 0 brackets one write() to /dev/null.
 */
#include <fcntl.h>
#include <unistd.h>

#include "p5w.h"

static int file;
static long bytes = 1;
static char data[4096];

static void iteration(void) {
  p5_begin(0);
  ssize_t written = write(file, data, (size_t)bytes);
  p5_end(0);
  if (written != bytes) p5w_fail("write");
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {.name = "bytes", .value = &bytes, .minimum = 1, .help = "size of one write, at most 4096"},
      {0},
  };
  p5w_start(argc, argv, options);
  if (bytes > (long)sizeof(data)) {
    fprintf(stderr, "my-workload: bytes: expected at most %zu\n", sizeof(data));
    return P5W_EXIT_USAGE;
  }
  file = open("/dev/null", O_WRONLY);
  if (file < 0) p5w_fail("/dev/null");

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
