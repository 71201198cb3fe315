// SPDX-License-Identifier: MIT
// Which phases are open? Markers begin and end phases, and phases can nest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace session {

constexpr uint32_t kEmpty = 0xFFFFFFFF;   // phase number of the empty brackets (p5w.h)
constexpr uint32_t kWhole = 0xFFFFFFFE;   // of the bracket around a whole program (init.c)
constexpr uint32_t kRegion = 0xFFFFFFFD;  // of a function without markers (region.hh)
constexpr uint32_t kBoot =
    0xFFFFFFFC;  // from reset to the end of the run or to a script's end of it

class Brackets {
 public:
  // begin() and end() return an error, or an empty text. begin() opens the phase. end() only checks
  // the phase. The phase stays open until close(), so that the session can write the end marker
  // first.
  std::string begin(uint32_t phase);
  std::string end(uint32_t phase) const;
  void close() { open_.pop_back(); }
  bool is_open(uint32_t phase) const;
  // Returns an error if the run must not end now. Otherwise returns an empty text.
  std::string exit() const;

  // Returns true if a bracket is open and the innermost open bracket is not an empty bracket.
  bool measures() const { return !open_.empty() && open_.back() != kEmpty; }
  // Returns true if a bracket is open and the outermost open bracket is not an empty bracket.
  bool inside() const { return !open_.empty() && open_.front() != kEmpty; }

 private:
  std::vector<uint32_t> open_;  // phases that are open, outermost first
};

}  // namespace session
