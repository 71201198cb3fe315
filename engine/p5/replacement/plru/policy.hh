// SPDX-License-Identifier: MIT
// Which way does pseudo-LRU replace?
#pragma once

#include <cstdint>
#include <vector>

#include "p5/replacement/policy.hh"

namespace p5 {

// Replaces the way that a binary tree of bits selects. The TLBs of the P54C have 3 bits for each
// 4-way set (INTEL-DM ch. 2).
class Plru : public Policy {
 public:
  static constexpr bool kPairIsLru = true;
  Plru(uint32_t sets, uint32_t ways) : ways_(ways), tree_(sets) {}

  void touch(uint32_t set, uint32_t way) { point_away(set, way); }
  void fill(uint32_t set, uint32_t way) { point_away(set, way); }
  uint32_t victim(uint32_t set) const {
    uint32_t way = 0, node = 0;
    for (uint32_t half = ways_ / 2; half > 0; half /= 2) {
      const bool right = tree_[set] >> node & 1;
      if (right) way |= half;
      node = 2 * node + (right ? 2 : 1);
    }
    return way;
  }

 private:
  // Tree node n has the children 2n+1 and 2n+2. A bit of 1 means "the victim is on the right".
  void point_away(uint32_t set, uint32_t way) {
    uint32_t bits = tree_[set];
    uint32_t node = 0;
    for (uint32_t half = ways_ / 2; half > 0; half /= 2) {
      const bool right = way & half;
      bits = right ? bits & ~(1u << node) : bits | (1u << node);
      node = 2 * node + (right ? 2 : 1);
    }
    tree_[set] = bits;
  }

  uint32_t ways_;
  std::vector<uint32_t> tree_;  // [set] tree bits; up to 8 ways need 7
};

}  // namespace p5
