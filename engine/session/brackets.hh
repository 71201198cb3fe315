// SPDX-License-Identifier: MIT
// The brackets that markers open and close: phases, one inside the other.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace session {

constexpr uint32_t kEmpty = 0xFFFFFFFF;  // phase of the brackets around nothing (p5w.h)

class Brackets {
 public:
  // Each returns what is wrong, or an empty text. begin() opens the phase; end() only checks, so
  // that the phase is still open while its end is written, and close() closes it.
  std::string begin(uint32_t phase);
  std::string end(uint32_t phase) const;
  void close() { open_.pop_back(); }
  // What is wrong if the run ends here.
  std::string exit() const;

  // The innermost bracket that is open is a measured one.
  bool measures() const { return !open_.empty() && open_.back() != kEmpty; }
  // The outermost one is.
  bool inside() const { return !open_.empty() && open_.front() != kEmpty; }

 private:
  std::vector<uint32_t> open_;  // phases begun and not ended
};

}  // namespace session
