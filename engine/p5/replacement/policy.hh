// SPDX-License-Identifier: MIT
// What must a replacement policy have? A policy is a directory NAME here. NAME/policy.hh has its
// class, which has the name of the directory with a capital letter. NAME/policy.toml describes the
// policy for people and for gem5, and has its condition on the number of ways. The build finds the
// directories.
#pragma once

#include <cstdint>

namespace p5 {

// touch() and fill() must change nothing if their way is the last one touched or filled in this
// set: the caches and TLBs do not report such hits (shortcut.hh). An invalid way is filled first,
// the lowest number first, without a call to the policy.
struct Policy {
  // A policy must define:
  //
  //   a constructor from (uint32_t sets, uint32_t ways)
  //   uint32_t victim(uint32_t set)   the way to replace in a set whose ways are all valid

  // Whether the policy is least recently used for a set of two ways.
  static constexpr bool kPairIsLru = false;
  void touch(uint32_t /*set*/, uint32_t /*way*/) {}  // a hit
  void fill(uint32_t /*set*/, uint32_t /*way*/) {}   // a line has come in
};

// The name of a policy's directory, which machine files use; policies.hh lists all names.
template <class Each>
struct PolicyName;

}  // namespace p5
