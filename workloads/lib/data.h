/* SPDX-License-Identifier: MIT */
/* Where a file benchmark puts its files. */
#ifndef P5LAB_DATA_H
#define P5LAB_DATA_H

#include <errno.h>
#include <sys/stat.h>
#include <unistd.h>

#include "p5w.h"

/* Make a directory `name` on the disk file system and go there. That is the directory in the
 * environment variable P5LAB_DATA, which the guest's init sets when it has mounted a disk; on a host
 * of its own the program takes the current directory. Exits with P5W_EXIT_UNAVAILABLE in a guest
 * without a disk: memory would pass for one. Call after p5w_start().
 */
static inline void data_enter(const char *name) {
  const char *place = getenv("P5LAB_DATA");
  if (!place && p5_marker_enabled) {
    fprintf(stderr, "%s: needs a disk, and this guest has none\n", name);
    exit(P5W_EXIT_UNAVAILABLE);
  }
  if (place && chdir(place) != 0) p5w_fail(place);
  if ((mkdir(name, 0700) != 0 && errno != EEXIST) || chdir(name) != 0) p5w_fail(name);
}

/* Leave the directory and remove it; it must be empty. */
static inline void data_leave(const char *name) {
  if (chdir("..") != 0 || rmdir(name) != 0) p5w_fail(name);
}

/* Return `count` file names, "0" to "count - 1". */
static inline char (*data_names(long count))[12] {
  char(*names)[12] = malloc((size_t)count * sizeof(*names));
  if (!names) p5w_fail("file names");
  for (long i = 0; i < count; i++) snprintf(names[i], sizeof(names[i]), "%d", (int)i);
  return names;
}

#endif
