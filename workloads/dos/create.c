/* SPDX-License-Identifier: MIT */
/*
 * create: create empty files (chen95 section 4.5, figure 7 and table 5). Phase 60 (3Ch) brackets
 * creation and close of all files. The program then removes them.
 */
#include "files.h"

static void run(void) {
  uint32_t files = PARAMETER(files), passes = PARAMETER(passes);
  if (files > 9999) fail("files: expected at most 9999");
  name_phase(60, "create, all files");
  must("mkdir", MKDIR, 0, 0, directory(0));
  for (uint32_t pass = 0; pass < passes; pass++) {
    begin(60);
    for (uint32_t i = 0; i < files; i++) write_file(named(0, i), NULL, 0);
    end(60);
    for (uint32_t i = 0; i < files; i++) must("unlink", UNLINK, 0, 0, named(0, i));
  }
  must("rmdir", RMDIR, 0, 0, directory(0));
}
