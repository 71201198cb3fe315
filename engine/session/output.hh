// SPDX-License-Identifier: MIT
// A file that a run leaves. One that cannot be written ends the process (ending.hh).
#pragma once

#include <cstdio>
#include <string>

namespace session {

class Output {
 public:
  // Makes an empty file.
  void create(const std::string& path);
  explicit operator bool() const { return file_ != nullptr; }

  void write(const std::string& text);
  // After writing to file() directly.
  void check() const;
  // Everything is in the file.
  void finish();

  std::FILE* file() const { return file_; }
  const std::string& path() const { return path_; }

 private:
  std::FILE* file_ = nullptr;  // null: not asked for
  std::string path_;
};

}  // namespace session
