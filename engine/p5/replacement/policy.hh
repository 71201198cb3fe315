// SPDX-License-Identifier: MIT
// What a replacement policy has. A policy is a directory here, NAME: its class, with the name of
// the directory and a capital letter, in NAME/policy.hh; what people and gem5 know about it, and
// what it needs of the number of ways, in NAME/policy.toml. The build finds the directories.
#pragma once

#include <cstdint>

namespace p5 {

// touch() and fill() must change nothing when their way is the one that was touched or filled in
// this set just before: such hits are not reported (the most-recently-used shortcut of caches and
// TLBs). An invalid way is filled first (lowest number) without asking the policy.
struct Policy {
  // Without a default:
  //   a constructor from (uint32_t sets, uint32_t ways)
  //   uint32_t victim(uint32_t set)   the way to replace in a set whose ways are all valid

  // Whether it is least recently used where a set has two ways.
  static constexpr bool kPairIsLru = false;
  void touch(uint32_t /*set*/, uint32_t /*way*/) {}  // a hit
  void fill(uint32_t /*set*/, uint32_t /*way*/) {}   // a line has come in
};

// The name of a policy's directory, by which machine files call it; policies.hh has them all.
template <class Each>
struct PolicyName;

}  // namespace p5
