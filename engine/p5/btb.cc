// SPDX-License-Identifier: MIT
#include "p5/btb.hh"

namespace p5 {

Btb::Btb(const BtbConfig& config)
    : entries_(config.entries),
      ways_(config.ways),
      mask_(config.entries / config.ways - 1),
      replacement_(config.entries / config.ways, config.ways) {}

void Btb::insert(uint32_t key, uint32_t target) {
  if (!allocates_) return;
  Entry* set = &entries_[(key & mask_) * ways_];
  Entry* victim = find(key);  // not null only if the branch was not looked up
  for (uint32_t way = 0; way < ways_ && !victim; way++) {
    if (!set[way].valid) victim = &set[way];
  }
  if (!victim) victim = &set[replacement_.victim(key & mask_)];
  if (victim->valid) hold(victim->key, -1);
  *victim = {key, target, 0, uint8_t(rule(Rule::BtbEnterHigh) ? 3 : 1), true};
  hold(key, 1);
}

void Btb::flush() {
  for (Entry& entry : entries_) {
    if (entry.valid) hold(entry.key, -1);
    entry.valid = false;
  }
}

}  // namespace p5
