// SPDX-License-Identifier: MIT
/* test-proc: prints a file of /proc, to test how the guest kernel detected the machine. */
#include "p5w.h"

static const char *const files[] = {"cpuinfo", "interrupts", "meminfo", "cmdline", "mounts", NULL};

int main(int argc, char **argv) {
  long file = 0;
  const struct p5w_option options[] = {
      {"file", "cpuinfo, interrupts, meminfo, cmdline or mounts", &file, 0, files}, {0}};
  p5w_start(argc, argv, options);
  char path[32], line[1024];
  snprintf(path, sizeof(path), "/proc/%s", files[file]);
  FILE *stream = fopen(path, "r");
  if (!stream) p5w_fail(path);
  while (fgets(line, sizeof(line), stream)) fputs(line, stdout);
  return 0;
}
