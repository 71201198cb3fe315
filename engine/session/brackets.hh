// SPDX-License-Identifier: MIT
// Which phases are open? Markers begin and end phases, and phases can nest.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "../../workloads/lib/marker_numbers.h"

namespace session {

// Phases that have a meaning of their own (workloads/lib/marker_numbers.h).
constexpr uint32_t kEmpty = P5_PHASE_EMPTY, kWhole = P5_PHASE_WHOLE, kRegion = P5_PHASE_REGION,
                   kBoot = P5_PHASE_BOOT;

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
