// SPDX-License-Identifier: MIT
// How does a process get files of its own that continues a run in another directory?
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace session {

struct OpenFile {
  int descriptor, flags;
  std::string path;
};

// Returns the open regular files of this process.
std::vector<OpenFile> open_files();

// Copies files from the directory `below`, which ends with a slash, to the current directory: the
// files that are open for writing, and those whose names are in `closed`. An open file is then
// its own copy, with a file offset of its own.
void take_files(const std::string& below, const std::vector<std::string>& closed);

// Opens a file that was open in another process, with the same descriptor.
void reopen(const OpenFile& file, const std::string& path, off_t offset);

// Ends the process. Prints `what` and errno's text on standard error.
[[noreturn]] void die(int status, const std::string& what);

}  // namespace session
