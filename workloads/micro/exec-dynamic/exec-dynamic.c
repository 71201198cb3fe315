// SPDX-License-Identifier: MIT
/*
 * exec-dynamic: the same as exec-static, but with a dynamically linked program (chen95 section 4.3,
 * figure 3). The program is compiled from the same C file. The kernel maps the program and the
 * loader, which is also the C library, and the loader resolves the symbols that the program needs.
 * Phase 0 brackets one start and wait.
 *
 * `libraries` is the number of further shared libraries (workloads/dynamic/library.c) that the
 * program needs. The loader opens, maps and relocates each library.
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
