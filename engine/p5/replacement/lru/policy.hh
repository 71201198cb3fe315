// SPDX-License-Identifier: MIT
// Which way does LRU replace?
#pragma once

#include <cstdint>
#include <vector>

#include "p5/replacement/policy.hh"

namespace p5 {

// Replaces the least recently used way (P54C L1: one LRU bit for each 2-way set, INTEL-DM ch. 2).
class Lru : public Policy {
 public:
  static constexpr bool kPairIsLru = true;
  Lru(uint32_t sets, uint32_t ways) : ways_(ways), stamp_(size_t(sets) * ways) {}

  void touch(uint32_t set, uint32_t way) { stamp_[size_t(set) * ways_ + way] = ++clock_; }
  void fill(uint32_t set, uint32_t way) { touch(set, way); }
  uint32_t victim(uint32_t set) const {
    const uint64_t* stamps = &stamp_[size_t(set) * ways_];
    uint32_t oldest = 0;
    for (uint32_t way = 1; way < ways_; way++) {
      if (stamps[way] < stamps[oldest]) oldest = way;
    }
    return oldest;
  }

 private:
  uint32_t ways_;
  uint64_t clock_ = 0;
  std::vector<uint64_t> stamp_;  // [set][way], last use
};

}  // namespace p5
