// SPDX-License-Identifier: MIT
/*
 * small-files: read many small files from the disk (chen95 section 4.5, figure 6 and table 4: 8192
 * files of 8 KB, evenly in 32 directories). Phase 0 brackets open, read and close of all files. The
 * program empties the file cache before the bracket.
 *
 * The paper does not print the order in which it creates and reads the files. Here the program
 * creates and reads them directory by directory. A file system that keeps the files of a directory
 * together profits from this order.
 */
#include "data.h"

static const char directory[] = "p5lab-small-files";
static long files = 256, directories = 32, size = 8192, filesystem = DATA_DISK;
static char *buffer;
static char (*names)[24];
static int whole; /* check every byte, not only each sector's mark */

static void create(long file) {
  int descriptor = open(names[file], O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (descriptor < 0) p5w_fail(names[file]);
  data_fill(buffer, size, 0, (uint32_t)file);
  data_write(descriptor, buffer, size, names[file]);
  if (close(descriptor) != 0) p5w_fail(names[file]);
}

static void iteration(void) {
  data_drop_caches();
  p5_begin(0);
  for (long i = 0; i < files; i++) {
    int descriptor = open(names[i], O_RDONLY);
    data_read(descriptor, buffer, size, names[i]);
    close(descriptor);
    (whole ? data_check : data_check_marks)(buffer, size, 0, (uint32_t)i, names[i]);
  }
  p5_end(0);
}

int main(int argc, char **argv) {
  long iterations = 1;
  const struct p5w_option options[] = {
      {"iterations", "measured passes, after one that looks at every byte", &iterations, 1, NULL},
      {"files", "files", &files, 1, NULL},
      {"directories", "directories they are in, evenly", &directories, 1, NULL},
      {"size", "bytes of a file", &size, 1, NULL},
      DATA_FILESYSTEM(filesystem),
      {0}};
  p5w_start(argc, argv, options);
  data_mount(filesystem);
  data_enter(directory);
  buffer = data_buffer(size);
  names = malloc((size_t)files * sizeof(*names));
  if (!names) p5w_fail("file names");
  for (long i = 0; i < files; i++)
    snprintf(names[i], sizeof(names[i]), "d%d/%d", (int)(i * directories / files), (int)i);
  char (*places)[12] = data_names(directories);
  for (long i = 0; i < directories; i++) {
    snprintf(places[i], sizeof(places[i]), "d%d", (int)i);
    if (mkdir(places[i], 0700) != 0) p5w_fail(places[i]);
  }
  for (long i = 0; i < files; i++) create(i);

  int enabled = p5_marker_enabled;
  data_drop_caches();
  p5_marker_enabled = 0, whole = 1;
  iteration();
  p5_marker_enabled = enabled, whole = 0;
  p5w_repeat(iteration, 0, iterations);

  for (long i = 0; i < files; i++)
    if (unlink(names[i]) != 0) p5w_fail(names[i]);
  for (long i = 0; i < directories; i++)
    if (rmdir(places[i]) != 0) p5w_fail(places[i]);
  data_leave(directory);
  return 0;
}
