// SPDX-License-Identifier: MIT
#include "p5/cache.hh"

#include "base/bits.hh"

namespace p5 {

Cache::Cache(const CacheConfig& config, bool quick)
    : config_(config),
      line_shift_(base::log2_of(config.line)),
      set_mask_(config.size / (config.ways * config.line) - 1),
      ways_(config.ways),
      quick_(quick),
      shortcut_(quick ? set_mask_ + 1 : 1),
      tag_((size_t(set_mask_) + 1) * config.ways, kNone),
      replacement_(config.policy, set_mask_ + 1, config.ways) {}

int Cache::take_in(uint32_t line, Fill fill, CacheAccess* result) {
  const uint32_t set = line & set_mask_;
  uint32_t* const tags = &tag_[size_t(set) * ways_];
  result->filled = true;
  int way = find_invalid(set);
  if (way < 0) {
    way = int(replacement_.victim(set));
    result->victim_dirty = tags[way] & kDirty;
    result->victim = tags[way] << line_shift_;  // the shift drops the state bits
  }
  tags[way] = line | (fill == Fill::Shared ? kShared : 0);
  replacement_.fill(set, uint32_t(way));
  return way;
}

int Cache::find_invalid(uint32_t set) const {
  const uint32_t* tags = &tag_[size_t(set) * ways_];
  for (uint32_t way = 0; way < ways_; way++) {
    if (tags[way] == kNone) return int(way);
  }
  return -1;
}

bool Cache::dirty(uint32_t address) const {
  const uint32_t line = address >> line_shift_;
  const int way = find(line);
  return way >= 0 && tag_[size_t(line & set_mask_) * ways_ + way] & kDirty;
}

bool Cache::clean(uint32_t address) { return settle(address >> line_shift_, 0); }

bool Cache::share(uint32_t address) { return settle(address >> line_shift_, kShared); }

bool Cache::settle(uint32_t line, uint32_t state) {
  const int way = find(line);
  if (way < 0) return false;
  const bool was_dirty = tag(line, way) & kDirty;
  tag(line, way) = (tag(line, way) & ~kDirty) | state;
  shortcut_.forget_write(line);
  return was_dirty;
}

bool Cache::remove(uint32_t line, int way) {
  const bool was_dirty = tag(line, way) & kDirty;
  tag(line, way) = kNone;
  if (shortcut_.reads(line)) shortcut_.forget(line);
  return was_dirty;
}

uint32_t Cache::invalidate_all() {
  uint32_t lost = 0;
  for (uint32_t& tag : tag_) {
    lost += tag >> 31;
    tag = kNone;
  }
  shortcut_.clear();
  return lost;
}

}  // namespace p5
