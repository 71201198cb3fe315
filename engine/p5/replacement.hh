// SPDX-License-Identifier: MIT
// Replacement policies of a set-associative array: which way of a set goes next.
//
// A policy is one class that has what Policy describes, and one word in the list Policies below.
// Machine files call it by its `name`. An invalid way is filled first (lowest number) without
// asking the policy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace p5 {

// What a policy has. touch() and fill() must change nothing when their way is the one that was
// touched or filled in this set just before: such hits are not reported (the most-recently-used
// shortcut of caches and TLBs).
struct Policy {
  // Without a default:
  //   static constexpr const char* name = "...";
  //   a constructor from (uint32_t sets, uint32_t ways)
  //   uint32_t victim(uint32_t set)   the way to replace in a set whose ways are all valid

  // What it needs of the number of ways in order to work, or nothing.
  static std::string problem(uint32_t /*ways*/) { return ""; }
  void touch(uint32_t /*set*/, uint32_t /*way*/) {}  // a hit
  void fill(uint32_t /*set*/, uint32_t /*way*/) {}   // a line has come in
};

// Exact least recently used (P54C L1: one LRU bit per 2-way set, INTEL-DM ch. 2).
class Lru : public Policy {
 public:
  static constexpr const char* name = "lru";
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

// Binary-tree pseudo-LRU (P54C TLBs: 3 bits per 4-way set, INTEL-DM ch. 2).
class Plru : public Policy {
 public:
  static constexpr const char* name = "plru";
  Plru(uint32_t sets, uint32_t ways) : ways_(ways), tree_(sets) {}

  static std::string problem(uint32_t ways) {
    return (ways & (ways - 1)) || ways > 8 ? "plru needs 1, 2, 4 or 8 ways" : "";
  }
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
  // Tree node n has children 2n+1 and 2n+2; a bit of 1 means "the victim is on the right".
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
  std::vector<uint32_t> tree_;  // [set], up to 8 ways = 7 bits
};

// Oldest fill: LRU that sees no hits.
class Fifo : public Lru {
 public:
  static constexpr const char* name = "fifo";
  using Lru::Lru;

  void touch(uint32_t /*set*/, uint32_t /*way*/) {}
};

// A 16-bit Galois LFSR (taps B400h, seed ACE1h), stepped once per replacement, so that equal runs
// choose equal victims.
class Random : public Policy {
 public:
  static constexpr const char* name = "random";
  Random(uint32_t /*sets*/, uint32_t ways) : ways_(ways) {}

  uint32_t victim(uint32_t /*set*/) {
    const bool low = lfsr_ & 1;
    lfsr_ >>= 1;
    if (low) lfsr_ ^= 0xB400;
    return lfsr_ % ways_;
  }

 private:
  uint32_t ways_;
  uint16_t lfsr_ = 0xACE1;
};

// Policies by name.
template <class... Each>
struct PolicyList {
  using Any = std::variant<Each...>;

  // "lru, plru, ...", for messages.
  static std::string names() {
    std::string all;
    ((all += (all.empty() ? "" : ", ") + std::string(Each::name)), ...);
    return all;
  }

  static bool has(const std::string& policy) { return ((policy == Each::name) || ...); }

  // Why a policy of the list cannot order so many ways; empty when it can.
  static std::string problem(const std::string& policy, uint32_t ways) {
    std::string problem;
    ((policy == Each::name ? void(problem = Each::problem(ways)) : void()), ...);
    return problem;
  }

  // A policy of the list.
  static Any make(const std::string& policy, uint32_t sets, uint32_t ways) {
    std::optional<Any> made;
    ((policy == Each::name ? void(made.emplace(Each(sets, ways))) : void()), ...);
    return std::move(made.value());
  }
};

// The policies there are.
using Policies = PolicyList<Lru, Plru, Fifo, Random>;

// One policy at work, chosen by name; no virtual calls.
class Replacement {
 public:
  // One way needs no order, and with two ways the tree's one bit is exact LRU: what the P54C's
  // caches and most board caches have is decided here, without asking which policy it is.
  Replacement(const std::string& policy, uint32_t sets, uint32_t ways)
      : pair_(ways == 2 && (policy == Lru::name || policy == Plru::name)),
        single_(ways == 1),
        oldest_(pair_ ? sets : 0),
        policy_(Policies::make(single_ ? Random::name : policy, pair_ ? 1 : sets, ways)) {}

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
