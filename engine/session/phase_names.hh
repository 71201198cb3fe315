// SPDX-License-Identifier: MIT
// Which names do the programs in the guest give to their phases? A table shows the name instead of
// the number.
#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace session {

class PhaseNames {
 public:
  // Names a phase. Returns false for a name that a phase cannot have: it does not begin with a
  // letter, it has more than 40 characters or others than those of ASCII that can be printed, it
  // belongs to another phase, or the phase has another name or a number above kLastPhase.
  // `is_new`: the phase had no name.
  bool add(uint32_t phase, const std::string& name, bool* is_new);

 private:
  std::map<uint32_t, std::string> names_;
};

constexpr uint32_t kLastPhase = 0x7FFFFFFF;  // of a program; the numbers above have other meanings

}  // namespace session
