// SPDX-License-Identifier: MIT
#include "session/ending.hh"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace session {

void reject(const std::string& line) {
  std::fprintf(stderr, "%s\n", line.c_str());
  std::fflush(nullptr);
  _exit(kBadInput);
}

void cannot_write(const std::string& path) {
  std::fprintf(stderr, "%s: cannot be written: %s\n", path.c_str(), std::strerror(errno));
  _exit(kNoOutput);
}

}  // namespace session
