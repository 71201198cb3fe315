/* SPDX-License-Identifier: MIT */
/*
 * small: read small files in several directories from the disk (chen95 section 4.5, figure 6 and
 * table 4: 8192 files of 8 KB in 32 directories). Phase 62 brackets open, read and close of all
 * files, directory by directory.
 */
#include "files.h"

#define SIZE 8192
static uint8_t bytes[SIZE];

static void run(void) {
  uint32_t files = PARAMETER(files), directories = PARAMETER(directories);
  if (!directories || directories > 32 || files % directories || files > 9999)
    fail("directories: expected 1 to 32 that divide the number of files");
  uint32_t each = files / directories;
  name_phase(62, "small-files, all files");
  for (uint32_t i = 0; i < files; i++) {
    if (i % each == 0) must("mkdir", MKDIR, 0, 0, directory(i / each));
    fill(bytes, SIZE, i);
    write_file(named(i / each, i), bytes, SIZE);
  }
  begin(62);
  for (uint32_t i = 0; i < files; i++) read_file(named(i / each, i), bytes, SIZE);
  end(62);
  for (uint32_t i = 0; i < files; i++) {
    read_file(named(i / each, i), bytes, SIZE);
    check(bytes, SIZE, i);
    must("unlink", UNLINK, 0, 0, named(i / each, i));
  }
  for (uint32_t i = 0; i < directories; i++) must("rmdir", RMDIR, 0, 0, directory(i));
}
