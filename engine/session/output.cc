// SPDX-License-Identifier: MIT
#include "session/output.hh"

#include <cerrno>

#include "session/ending.hh"

namespace session {

void Output::create(const std::string& path) {
  path_ = path;
  file_ = std::fopen(path.c_str(), "w");
  if (!file_) cannot_write(path_);
}

void Output::write(const std::string& text) {
  if (std::fwrite(text.data(), 1, text.size(), file_) != text.size()) cannot_write(path_);
}

void Output::check() const {
  if (std::ferror(file_)) cannot_write(path_);
}

void Output::finish() {
  errno = 0;
  if (!std::fflush(file_) && !std::ferror(file_)) return;
  if (!errno) errno = EIO;  // an earlier write has failed, and its reason is no longer known
  cannot_write(path_);
}

}  // namespace session
