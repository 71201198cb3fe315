// SPDX-License-Identifier: MIT
// What does the branch target buffer of the P54C hold? The buffer has 256 entries in 4 ways
// [INTEL-DM 2]. Measurements show the key of an entry, the changes of its state, and which branches
// get no entry [AGN-MA 3.2].
#pragma once

#include <cstdint>
#include <vector>

#include "p5/replacement/random/policy.hh"
#include "p5/rules.hh"

namespace p5 {

struct BtbConfig {
  uint32_t entries = 256, ways = 4;
  // If true, the key of an entry is the U instruction of the pair that precedes the branch's pair.
  // If false, the key is the branch itself, as in simpler models.
  bool by_pair = true;
};

class Btb {
 public:
  explicit Btb(const BtbConfig& config);

  struct Entry {
    uint32_t key = 0, target = 0;
    uint32_t zeroed = 0;  // number of pairs, modulo 2^32, when the state became 0
    uint8_t state = 0;    // 0 and 1: not taken, 2 and 3: taken
    bool valid = false;

    bool predicts_taken() const { return state >= 2 || !rule(Rule::BtbThreshold); }
    // Whether this entry predicts the branch correctly.
    bool predicts(bool taken, uint32_t to) const {
      if (!predicts_taken()) return !taken;
      return taken && (target == to || !rule(Rule::BtbTarget));
    }
  };

  // Returns the entry of a key, or null. Without an entry, the branch is predicted not taken.
  Entry* find(uint32_t key) {
    if (!rule(Rule::BtbHit)) return nullptr;
    Entry* set = &entries_[(key & mask_) * ways_];
    for (uint32_t way = 0; way < ways_; way++) {
      if (set[way].key == key && set[way].valid) return &set[way];
    }
    return nullptr;
  }

  // A taken branch raises the state by one, up to 3. A branch that is not taken lowers the state by
  // one, down to 0. There is one exception: from state 0, a taken branch leads to state 3. If the
  // state became 0 at most 4 pairs ago, the buffer does not contain this change yet, and the taken
  // branch leads to state 1. `pairs` is the number of executed pairs.
  static void update(Entry* entry, bool taken, uint32_t target, uint32_t pairs) {
    if (taken) {
      const bool written = !rule(Rule::BtbTightLoop) || pairs - entry->zeroed > kForwardedPairs;
      const bool jump = entry->state == 0 && written && rule(Rule::BtbFromZero);
      entry->state = jump || entry->state == 3 ? 3 : entry->state + 1;
      entry->target = target;
    } else if (entry->state && rule(Rule::BtbDown)) {
      entry->state--;
      entry->zeroed = pairs;
    }
  }

  // Adds an entry for a taken branch that has no entry yet.
  void insert(uint32_t key, uint32_t target);
  void allocate(bool on) { allocates_ = on; }

  void flush();

  // Searches for an entry with this key, or with a key in the `bytes` bytes from `first`. If the
  // result is false, the buffer has no entry with such a key. If the result is true, the buffer may
  // have such an entry.
  bool may_hold(uint32_t key) const { return keys_[key % kKeys]; }
  bool may_hold(uint32_t first, uint32_t bytes) const {
    for (uint32_t at = first; at < first + bytes; at += kGrain) {
      if (grains_[at / kGrain % kGrains]) return true;
    }
    return false;
  }

 private:
  static constexpr uint32_t kForwardedPairs = 4;
  static constexpr uint32_t kKeys = 4096, kGrain = 32, kGrains = 4096;

  void hold(uint32_t key, int entries) {
    keys_[key % kKeys] = uint16_t(keys_[key % kKeys] + entries);
    grains_[key / kGrain % kGrains] = uint16_t(grains_[key / kGrain % kGrains] + entries);
  }

  std::vector<Entry> entries_;
  uint32_t ways_, mask_;
  bool allocates_ = true;
  // keys_: number of entries for each value of the key's low bits. grains_: for each piece of
  // memory of kGrain bytes, the number of entries whose key is in the piece.
  uint16_t keys_[kKeys] = {}, grains_[kGrains] = {};
  Random replacement_;  // the chip picks a way pseudo-randomly; the model uses a fixed sequence
};

}  // namespace p5
