// SPDX-License-Identifier: MIT
// What has the guest sent to its serial line? The emulator writes the bytes to a file.
#pragma once

#include <cstdint>
#include <string>

#include "session/pattern.hh"

namespace session {

class SerialLine {
 public:
  explicit SerialLine(std::string path) : path_(std::move(path)) {}

  // Reads the bytes that the guest has sent since the last call.
  void read();
  // From now on, only bytes count that the guest sends later.
  void forget();
  // Prepares the search for another pattern.
  void rewind() { searched_ = 0; }
  // Returns true if one line of the text contains the pattern. The last line need not be complete.
  // Each call searches only the lines that the calls before have not searched.
  bool has(const Pattern& pattern);

 private:
  std::string path_;
  uint64_t read_ = 0;    // bytes of the file
  std::string text_;     // since reset or forget()
  size_t searched_ = 0;  // the beginning of the first line that must be searched again
};

}  // namespace session
