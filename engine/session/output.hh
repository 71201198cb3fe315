// SPDX-License-Identifier: MIT
// How does a run write its files? If a file cannot be written, the process ends (ending.hh).
#pragma once

#include <cstdio>
#include <string>

namespace session {

class Output {
 public:
  Output() = default;
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;
  ~Output() {
    if (file_) std::fclose(file_);
  }

  // Creates an empty file.
  void create(const std::string& path);
  explicit operator bool() const { return file_ != nullptr; }

  void write(const std::string& text);
  // Call this after a direct write to file(). check() ends the process if the write has failed.
  void check() const;
  // Flushes the file. An error ends the process.
  void finish();

  std::FILE* file() const { return file_; }
  const std::string& path() const { return path_; }

 private:
  std::FILE* file_ = nullptr;  // null: the run does not write this file
  std::string path_;
};

}  // namespace session
