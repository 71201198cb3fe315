// SPDX-License-Identifier: MIT
// Replacement in a set-associative array: which way of a set goes next. The policies are the
// directories of engine/p5/replacement.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "policies.hh"

namespace p5 {

// One policy at work, chosen by name; no virtual calls.
class Replacement {
 public:
  // One way needs no order, and two ways of LRU, or of what is LRU then, need one bit: what the
  // P54C's caches and most board caches have is decided here, without asking which policy it is.
  Replacement(const std::string& policy, uint32_t sets, uint32_t ways)
      : pair_(ways == 2 && Policies::pair_is_lru(policy)),
        single_(ways == 1),
        oldest_(pair_ ? sets : 0),
        policy_(Policies::make(policy, pair_ || single_ ? 1 : sets, ways)) {}

  void touch(uint32_t set, uint32_t way) {
    if (pair_)
      oldest_[set] = uint8_t(way ^ 1);
    else if (!single_)
      std::visit([=](auto& policy) { policy.touch(set, way); }, policy_);
  }
  void fill(uint32_t set, uint32_t way) {
    if (pair_)
      oldest_[set] = uint8_t(way ^ 1);
    else if (!single_)
      std::visit([=](auto& policy) { policy.fill(set, way); }, policy_);
  }
  uint32_t victim(uint32_t set) {
    if (pair_) return oldest_[set];
    if (single_) return 0;
    return std::visit([=](auto& policy) { return policy.victim(set); }, policy_);
  }

 private:
  bool pair_, single_;
  std::vector<uint8_t> oldest_;  // [set] of two ways
  Policies::Any policy_;
};

}  // namespace p5
