// SPDX-License-Identifier: MIT
#include "session/serial_line.hh"

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>

namespace session {
namespace {

constexpr size_t kLongest = 4096;  // bytes of a line that are searched again

}  // namespace

void SerialLine::read() {
  std::fflush(nullptr);  // the emulator writes the file
  std::ifstream file(path_, std::ios::binary);
  file.seekg(std::streamoff(read_));
  const std::string more{std::istreambuf_iterator<char>(file), {}};
  read_ += more.size();
  // A pattern ends at a zero byte.
  std::copy_if(more.begin(), more.end(), std::back_inserter(text_), [](char c) { return c != 0; });
}

void SerialLine::forget() {
  read();
  text_.clear();
  searched_ = 0;
}

bool SerialLine::has(const Pattern& pattern) {
  for (;;) {
    const size_t end = std::min(text_.find_first_of("\r\n", searched_), text_.size());
    size_t begin = 0, behind = 0;
    if (pattern.find(text_.substr(searched_, end - searched_), &begin, &behind)) return true;
    if (end == text_.size()) {
      if (end - searched_ > kLongest) searched_ = end - kLongest;
      return false;
    }
    searched_ = end + 1;
  }
}

}  // namespace session
