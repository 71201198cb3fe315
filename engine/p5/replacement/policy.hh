// SPDX-License-Identifier: MIT
// What must a replacement policy contain? Each policy is a directory NAME beside this file.
// NAME/policy.hh contains the class of the policy. The name of the class is NAME with a capital
// first letter. NAME/policy.toml describes the policy for people and for gem5, and contains the
// condition on the number of ways. The build searches for the directories, so no file lists them.
#pragma once

#include <cstdint>

namespace p5 {

// If touch() or fill() is called again for the last-used way of a set, the call must change
// nothing. The caches and TLBs do not report all of these hits (shortcut.hh). If a set has invalid
// ways, the array fills the invalid way with the lowest number and does not call victim().
struct Policy {
  // A policy must define:
  //
  //   a constructor from (uint32_t sets, uint32_t ways)
  //   uint32_t victim(uint32_t set)   the way to replace; all ways of the set are valid

  // Whether the policy behaves like LRU for a set of two ways.
  static constexpr bool kPairIsLru = false;
  void touch(uint32_t /*set*/, uint32_t /*way*/) {}  // a hit
  void fill(uint32_t /*set*/, uint32_t /*way*/) {}   // a line has been filled
};

// The name of a policy's directory. Machine files use this name. policies.hh lists all names.
template <class Each>
struct PolicyName;

}  // namespace p5
