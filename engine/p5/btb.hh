// SPDX-License-Identifier: MIT
// The branch target buffer of the P54C: 256 entries, 4-way [INTEL-DM 2]. What tells an entry, how
// its state moves and what is never entered were found by measurement [AGN-MA 3.2].
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replacement.hh"
#include "rules.hh"

namespace p5 {

struct BtbConfig {
  uint32_t entries = 256, ways = 4;
  // An entry is told by the instruction in U of the pair before the branch's own; false: by the
  // branch itself, as simpler models have it.
  bool by_pair = true;

  std::string problem() const;  // empty when the geometry is possible
};

class Btb {
 public:
  explicit Btb(const BtbConfig& config);

  struct Entry {
    uint32_t key = 0, target = 0;
    uint8_t state = 0;  // 0 and 1: not taken, 2 and 3: taken
    bool valid = false;

    // Whether it foretells what the branch does.
    bool predicts(bool taken, uint32_t to) const {
      if (rule(Rule::BtbThreshold) && state < 2) return !taken;
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

  // A taken branch goes one state up, from 0 to 3; one that is not goes one down.
  static void update(Entry* entry, bool taken, uint32_t target) {
    if (taken) {
      const bool jump = entry->state == 0 && rule(Rule::BtbFromZero);
      entry->state = jump || entry->state == 3 ? 3 : entry->state + 1;
      entry->target = target;
    } else if (entry->state) {
      entry->state -= rule(Rule::BtbDown);
    }
  }

  // A taken branch that had no entry.
  void insert(uint32_t key, uint32_t target);

  void flush();

 private:
  std::vector<Entry> entries_;
  uint32_t ways_, mask_;
  Random replacement_;       // the chip picks a way pseudo-randomly; here by a fixed sequence
};

}  // namespace p5
