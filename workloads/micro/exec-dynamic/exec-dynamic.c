// SPDX-License-Identifier: MIT
/*
 * exec-dynamic: what exec-static measures, with a dynamically linked program (chen95 section 4.3,
 * figure 3). The program is the same C file; the kernel maps it and the loader, which is the C
 * library as well, and the loader resolves what the program needs of it. Phase 0 brackets one start
 * and wait.
 *
 * `libraries` is the number of further shared libraries (workloads/dynamic/library.c) that the
 * program names as needed: the loader opens, maps and relocates each.
 */
#include "exec.h"

static const char *const libraries_known[] = {"0", "1", "2", "4", NULL};

int main(int argc, char **argv) {
  long iterations = 50, warmup = 2, libraries = 0;
  const struct p5w_option options[] = {
      P5W_ITERATIONS(iterations, warmup),
      {"libraries", "shared libraries besides libc", &libraries, 0, libraries_known},
      {0}};
  p5w_start(argc, argv, options);
  char name[32];
  snprintf(name, sizeof(name), "true-dynamic-%s", libraries_known[libraries]);
  exec_program = child_path(argv[0], name);

  p5w_repeat(exec_iteration, warmup, iterations);
  return 0;
}
