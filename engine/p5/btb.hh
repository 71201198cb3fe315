// SPDX-License-Identifier: MIT
// The branch target buffer of the P54C: 256 entries, 4-way [INTEL-DM 2]. The key of an entry, the
// moves of its state and what is never entered were found by measurement [AGN-MA 3.2].
#pragma once

#include <cstdint>
#include <vector>

#include "replacement/random/policy.hh"
#include "rules.hh"

namespace p5 {

struct BtbConfig {
  uint32_t entries = 256, ways = 4;
  // The key of an entry is the instruction in U of the pair before the branch's own; false: the
  // branch itself, as in simpler models.
  bool by_pair = true;
};

class Btb {
 public:
  explicit Btb(const BtbConfig& config);

  struct Entry {
    uint32_t key = 0, target = 0;
    uint32_t zeroed = 0;  // pairs executed when the state came to be 0, modulo 2^32
    uint8_t state = 0;    // 0 and 1: not taken, 2 and 3: taken
    bool valid = false;

    bool predicts_taken() const { return state >= 2 || !rule(Rule::BtbThreshold); }
    // Does it predict what the branch does?
    bool predicts(bool taken, uint32_t to) const {
      if (!predicts_taken()) return !taken;
      return taken && (target == to || !rule(Rule::BtbTarget));
    }
  };

  // Null: no entry; then the branch is predicted to fall through.
  Entry* find(uint32_t key) {
    if (!rule(Rule::BtbHit)) return nullptr;
    Entry* set = &entries_[(key & mask_) * ways_];
    for (uint32_t way = 0; way < ways_; way++) {
      if (set[way].key == key && set[way].valid) return &set[way];
    }
    return nullptr;
  }

  // A taken branch moves the state one up, from 0 to 3; one that is not taken moves it one down.
  // `pairs`: number of pairs executed. A state of 0 that is still on its way to the buffer moves up
  // like any other.
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

  // A taken branch that had no entry.
  void insert(uint32_t key, uint32_t target);
  void allocate(bool on) { allocates_ = on; }

  void flush();

  // False: there is no entry with this key, or with a key in the bytes from `first` on. True: there
  // may be.
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
  // How many entries have a key with such low bits, and one in such a piece of memory.
  uint16_t keys_[kKeys] = {}, grains_[kGrains] = {};
  Random replacement_;  // the chip picks a way pseudo-randomly; here by a fixed sequence
};

}  // namespace p5
