// SPDX-License-Identifier: MIT
// Which way of a set is replaced next? The policies are the directories of engine/p5/replacement.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace p5 {

// The replacement policy of one array. The name of the policy selects the policy's class. Few
// files know the classes (policies.hh), so few files are compiled again for a new policy.
class Replacement {
 public:
  // A set of one way needs no order. If the policy behaves like LRU for two ways, a set of two ways
  // needs one bit. The caches of the P54C and most board caches have one or two ways. This class
  // therefore handles these two cases itself and does not call the policy.
  Replacement(const std::string& policy, uint32_t sets, uint32_t ways);
  ~Replacement();
  Replacement(const Replacement& other);
  Replacement& operator=(const Replacement&) = delete;

  void touch(uint32_t set, uint32_t way) {
    if (pair_)
      oldest_[set] = uint8_t(way ^ 1);
    else if (policy_)
      touch_policy(set, way);
  }
  void fill(uint32_t set, uint32_t way) {
    if (pair_)
      oldest_[set] = uint8_t(way ^ 1);
    else if (policy_)
      fill_policy(set, way);
  }
  uint32_t victim(uint32_t set) {
    if (pair_) return oldest_[set];
    return policy_ ? policy_victim(set) : 0;
  }

 private:
  struct Chosen;  // an object of the policy's class

  void touch_policy(uint32_t set, uint32_t way);
  void fill_policy(uint32_t set, uint32_t way);
  uint32_t policy_victim(uint32_t set);

  bool pair_;
  std::vector<uint8_t> oldest_;     // [set] older of two ways
  std::unique_ptr<Chosen> policy_;  // null if this class handles the case itself
};

}  // namespace p5
