// SPDX-License-Identifier: MIT
// Replacement policies of one set-associative array: which way of a set goes next.
//   lru     exact least recently used (P54C L1: one LRU bit per 2-way set, INTEL-DM ch. 2)
//   plru    binary-tree pseudo-LRU (P54C TLBs: 3 bits per 4-way set, INTEL-DM ch. 2)
//   fifo    oldest fill
//   random  a 16-bit Galois LFSR (taps B400h, seed ACE1h), stepped once per replacement,
//           so that equal runs choose equal victims
// An invalid way is always filled first (lowest number), whatever the policy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace p5 {

enum class Policy : uint8_t { Lru, Plru, Fifo, Random };

// "lru" -> Policy::Lru and so on; false when the name is none of the four.
inline bool parse_policy(const std::string& name, Policy* out) {
  if (name == "lru") *out = Policy::Lru;
  else if (name == "plru") *out = Policy::Plru;
  else if (name == "fifo") *out = Policy::Fifo;
  else if (name == "random") *out = Policy::Random;
  else return false;
  return true;
}

class Replacement {
 public:
  Replacement(Policy policy, uint32_t sets, uint32_t ways)
      : policy_(effective(policy, ways)),
        ways_(ways),
        stamp_(policy_ == Policy::Lru || policy_ == Policy::Fifo ? size_t(sets) * ways : 0),
        tree_(policy_ == Policy::Plru ? sets : 0) {}

  // A hit in `way`. Touching the same way of a set twice in a row changes nothing more than
  // touching it once, for every policy: the callers' most-recently-used shortcut rests on that.
  void touch(uint32_t set, uint32_t way) {
    if (policy_ == Policy::Plru) point_away(set, way);
    else if (policy_ == Policy::Lru) stamp_[size_t(set) * ways_ + way] = ++clock_;
  }

  // A fill of `way`.
  void fill(uint32_t set, uint32_t way) {
    if (policy_ == Policy::Lru || policy_ == Policy::Fifo) {
      stamp_[size_t(set) * ways_ + way] = ++clock_;
    } else if (policy_ == Policy::Plru) {
      point_away(set, way);
    }
  }

  // The way to replace in a set whose ways are all valid.
  uint32_t victim(uint32_t set) {
    switch (policy_) {
      case Policy::Plru: return follow(set);
      case Policy::Random: return step_lfsr() % ways_;
      default: break;
    }
    const uint64_t* stamps = &stamp_[size_t(set) * ways_];
    uint32_t oldest = 0;
    for (uint32_t way = 1; way < ways_; way++) {
      if (stamps[way] < stamps[oldest]) oldest = way;
    }
    return oldest;
  }

 private:
  // One way needs no order, and with two ways the tree's one bit is exact LRU.
  static Policy effective(Policy policy, uint32_t ways) {
    if (ways == 1) return Policy::Random;
    return policy == Policy::Lru && ways == 2 ? Policy::Plru : policy;
  }

  // Tree node n has children 2n+1 and 2n+2; a bit of 1 means "the victim is on the right".
  void point_away(uint32_t set, uint32_t way) {
    if (ways_ == 2) {
      tree_[set] = way ^ 1;
      return;
    }
    uint32_t bits = tree_[set];
    uint32_t node = 0;
    for (uint32_t half = ways_ / 2; half > 0; half /= 2) {
      const bool right = way & half;
      bits = right ? bits & ~(1u << node) : bits | (1u << node);
      node = 2 * node + (right ? 2 : 1);
    }
    tree_[set] = bits;
  }

  uint32_t follow(uint32_t set) const {
    uint32_t way = 0, node = 0;
    for (uint32_t half = ways_ / 2; half > 0; half /= 2) {
      const bool right = tree_[set] >> node & 1;
      if (right) way |= half;
      node = 2 * node + (right ? 2 : 1);
    }
    return way;
  }

  uint32_t step_lfsr() {
    const bool low = lfsr_ & 1;
    lfsr_ >>= 1;
    if (low) lfsr_ ^= 0xB400;
    return lfsr_;
  }

  Policy policy_;
  uint32_t ways_;
  uint64_t clock_ = 0;
  std::vector<uint64_t> stamp_;  // [set][way], lru: last use, fifo: fill
  std::vector<uint32_t> tree_;   // [set], up to 8 ways = 7 bits
  uint16_t lfsr_ = 0xACE1;
};

}  // namespace p5
