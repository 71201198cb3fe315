// SPDX-License-Identifier: MIT
// Which way of a set is replaced next? The policies are the directories of engine/p5/replacement.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "policies.hh"

namespace p5 {

// The replacement policy of one array. The name of the policy selects the policy's class. This
// class makes no virtual calls.
class Replacement {
 public:
  // A set of one way needs no order. If the policy behaves like LRU for two ways, a set of two ways
  // needs one bit. The caches of the P54C and most board caches have one or two ways. This class
  // therefore handles these two cases itself and does not call the policy.
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
  std::vector<uint8_t> oldest_;  // [set] older of two ways
  Policies::Any policy_;
};

}  // namespace p5
