// SPDX-License-Identifier: MIT
#include "p5/tlb.hh"

#include <algorithm>

namespace p5 {

Tlb::Tlb(const TlbConfig& config)
    : config_(config),
      set_mask_(config.entries / config.ways - 1),
      shortcut_(set_mask_ + 1),
      tag_(config.entries, kNone),
      global_(config.entries),
      replacement_(config.policy, set_mask_ + 1, config.ways) {}

bool Tlb::lookup(Linear page) {
  const uint32_t set = page & set_mask_;
  const Linear* tags = &tag_[size_t(set) * config_.ways];
  for (uint32_t way = 0; way < config_.ways; way++) {
    if ((tags[way] & kPage) == page) {
      replacement_.touch(set, way);
      attributes_ = tags[way] >> kAttributeShift;
      used(tags[way]);
      return true;
    }
  }
  return false;
}

Linear Tlb::insert(Linear page, uint32_t attributes, bool global) {
  const uint32_t set = page & set_mask_;
  Linear* tags = &tag_[size_t(set) * config_.ways];
  Linear* end = tags + config_.ways;
  Linear* free = std::find(tags, end, kNone);
  const uint32_t way = free != end ? uint32_t(free - tags) : replacement_.victim(set);
  const Linear before = tags[way] == kNone ? kNone : tags[way] & kPage;
  tags[way] = page | Linear(attributes) << kAttributeShift;
  global_[size_t(set) * config_.ways + way] = global;
  replacement_.fill(set, way);
  used(tags[way]);
  return before;
}

void Tlb::invalidate(Linear page) {
  const uint32_t set = page & set_mask_;
  Linear* tags = &tag_[size_t(set) * config_.ways];
  for (uint32_t way = 0; way < config_.ways; way++) {
    if ((tags[way] & kPage) == page) tags[way] = kNone;
  }
  if (shortcut_.reads(page)) shortcut_.forget(page);
}

void Tlb::flush() {
  std::fill(tag_.begin(), tag_.end(), kNone);
  shortcut_.clear();
}

void Tlb::flush_local() {
  for (size_t i = 0; i < tag_.size(); i++) {
    if (!global_[i]) tag_[i] = kNone;
  }
  shortcut_.clear();
}

}  // namespace p5
