// SPDX-License-Identifier: MIT
// Which names do the programs in the guest give to their phases? A table shows the name instead of
// the number.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "../../workloads/lib/marker_numbers.h"

namespace session {

class PhaseNames {
 public:
  // Names a phase. A name has 1 to 40 printable characters of ASCII. It begins with a letter and
  // does not end with a space. Returns false for any other name, for a name of another phase, for a
  // phase with another name, and for a number above kLastPhase.
  // `is_new`: the phase had no name.
  bool add(uint32_t phase, const std::string& name, bool* is_new);

 private:
  std::map<uint32_t, std::string> names_;
};

// The last phase of a program. The numbers above have other meanings.
constexpr uint32_t kLastPhase = P5_PHASE_WINDOW - 1;

}  // namespace session
