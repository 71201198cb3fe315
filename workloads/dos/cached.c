/* SPDX-License-Identifier: MIT */
/*
 * cached: read files of 4 KB that were just created (chen95 section 4.5, figure 5). Phase 61
 * brackets open, read and close of all files. DOS has a cache for files only if a resident program
 * adds one; without it the disk is read.
 */
#include "files.h"

#define SIZE 4096
static uint8_t bytes[SIZE];

static void run(void) {
  uint32_t files = PARAMETER(files), passes = PARAMETER(passes);
  if (files > 200) fail("files: expected at most 200");
  name_phase(61, "cached-read, all files");
  for (uint32_t i = 0; i < files; i++) {
    fill(bytes, SIZE, i);
    write_file(named(NO_DIRECTORY, i), bytes, SIZE);
  }
  for (uint32_t pass = 0; pass < passes; pass++) {
    begin(61);
    for (uint32_t i = 0; i < files; i++) read_file(named(NO_DIRECTORY, i), bytes, SIZE);
    end(61);
  }
  for (uint32_t i = 0; i < files; i++) {
    read_file(named(NO_DIRECTORY, i), bytes, SIZE);
    check(bytes, SIZE, i);
    must("unlink", UNLINK, 0, 0, named(NO_DIRECTORY, i));
  }
}
