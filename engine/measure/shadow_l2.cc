// SPDX-License-Identifier: MIT
#include "measure/shadow_l2.hh"

#include <algorithm>
#include <type_traits>

#include "base/bits.hh"
#include "p5/policies.hh"

namespace measure {
namespace {

// A tag is a line number. The highest bit of a tag shows that the line is dirty.
constexpr uint32_t kDirty = 0x80000000, kNone = 0x7FFFFFFF;

uint32_t set_mask(const p5::CacheConfig& l2) { return l2.size / (l2.ways * l2.line) - 1; }

// Whether two L2s contain the same lines. A write-back L2 and a write-through L2 can contain the
// same lines.
bool alike(const p5::CacheConfig& a, const p5::CacheConfig& b) {
  return a.size == b.size && a.ways == b.ways && a.line == b.line && a.policy == b.policy &&
         a.write_allocate == b.write_allocate;
}

// The misses of one L2 in each bank.
class Tally {
 public:
  void use(size_t bank) {
    if (banks_.size() <= bank) banks_.resize(bank + 1);
    bank_ = &banks_[bank];
  }
  L2Misses* operator->() { return bank_; }
  L2Misses of(size_t bank) const { return bank < banks_.size() ? banks_[bank] : L2Misses(); }

 private:
  L2Misses* bank_ = nullptr;
  std::vector<L2Misses> banks_;
};

// Direct-mapped L2s of any size, with lines of the same length. Several lines share a set. The set
// contains the line that was loaded last. In a larger cache fewer lines share a set. A larger cache
// therefore contains all lines of a smaller cache. Lines that are modified in the smaller cache are
// also modified in the larger cache. If an access hits in a cache and changes nothing, the larger
// caches can skip the access.
class DirectL2s : public L2s {
 public:
  explicit DirectL2s(const p5::CacheConfig& l2)
      : line_(l2.line), write_allocate_(l2.write_allocate), line_shift_(base::log2_of(l2.line)) {
    add(l2);
  }

  bool add(const p5::CacheConfig& l2) override {
    if (l2.ways != 1 || l2.line != line_ || l2.write_allocate != write_allocate_) return false;
    const uint32_t mask = set_mask(l2);
    auto at = caches_.begin();
    while (at != caches_.end() && at->mask < mask) ++at;
    if (at == caches_.end() || at->mask != mask) caches_.insert(at, Direct(mask));
    return true;
  }

  void play(const std::vector<BusAccess>& accesses) override {
    for (const BusAccess& access : accesses) {
      const uint32_t line = access.address >> line_shift_;
      switch (access.kind) {
        case BusAccess::Read:
          read(line);
          break;
        case BusAccess::Write:
          write(line, access.times);
          break;
        case BusAccess::ReadPast:
          read_past(line);
          break;
        case BusAccess::Invalidate:
          invalidate(line);
          break;
        case BusAccess::FlushCaches:
          for (Direct& cache : caches_) std::fill(cache.tags.begin(), cache.tags.end(), kNone);
          break;
        case BusAccess::UseBank:
          for (Direct& cache : caches_) cache.tally.use(access.address);
          break;
      }
    }
  }

  L2Misses misses(const p5::CacheConfig& l2, size_t bank) const override {
    size_t number = 0;
    while (caches_[number].mask != set_mask(l2)) number++;
    return caches_[number].tally.of(bank);
  }

 private:
  struct Direct {
    explicit Direct(uint32_t mask) : mask(mask), tags(size_t(mask) + 1, kNone) {}
    uint32_t& tag(uint32_t line) { return tags[line & mask]; }
    uint32_t mask;
    std::vector<uint32_t> tags;
    Tally tally;
  };

  void read(uint32_t line) {
    for (Direct& cache : caches_) {
      uint32_t& tag = cache.tag(line);
      if ((tag & ~kDirty) == line) return;
      cache.tally->reads++;
      cache.tally->dram_writes += tag >> 31;
      tag = line;
    }
  }

  void write(uint32_t line, uint32_t times) {
    for (Direct& cache : caches_) {
      uint32_t& tag = cache.tag(line);
      if (tag == (line | kDirty)) return;
      if (tag == line) {
        tag |= kDirty;
      } else if (write_allocate_) {  // only the first write misses
        cache.tally->writes++;
        cache.tally->dram_writes += tag >> 31;
        tag = line | kDirty;
      } else {
        cache.tally->writes += times;
        cache.tally->dram_writes += times;
      }
    }
  }

  void read_past(uint32_t line) {
    for (Direct& cache : caches_) {
      if ((cache.tag(line) & ~kDirty) == line) return;
      cache.tally->reads++;
    }
  }

  void invalidate(uint32_t line) {
    for (Direct& cache : caches_) {
      uint32_t& tag = cache.tag(line);
      if ((tag & ~kDirty) != line) continue;
      cache.tally->dram_writes += tag >> 31;
      tag = kNone;
    }
  }

  uint32_t line_;
  bool write_allocate_;
  uint32_t line_shift_;
  std::vector<Direct> caches_;  // the smallest first
};

// An L2 with true LRU. The tags of a set are in the order of their use: the last-used tag is first,
// and invalid tags are at the end.
class LruL2 : public L2s {
 public:
  explicit LruL2(const p5::CacheConfig& l2)
      : config_(l2),
        line_shift_(base::log2_of(l2.line)),
        mask_(set_mask(l2)),
        tags_(size_t(l2.size) / l2.line, kNone) {}

  bool add(const p5::CacheConfig& l2) override { return alike(config_, l2); }

  void play(const std::vector<BusAccess>& accesses) override {
    if (config_.ways == 2)
      play_ways(accesses, std::integral_constant<uint32_t, 2>());
    else if (config_.ways == 4)
      play_ways(accesses, std::integral_constant<uint32_t, 4>());
    else
      play_ways(accesses, config_.ways);
  }

  L2Misses misses(const p5::CacheConfig&, size_t bank) const override { return tally_.of(bank); }

 private:
  template <class Ways>
  void play_ways(const std::vector<BusAccess>& accesses, Ways ways) {
    for (const BusAccess& access : accesses) {
      const uint32_t line = access.address >> line_shift_;
      uint32_t* const tags = &tags_[size_t(line & mask_) * ways];
      switch (access.kind) {
        case BusAccess::Read:
          if (!found(tags, line, ways, 0)) {
            tally_->reads++;
            take_in(tags, line, ways);
          }
          break;
        case BusAccess::Write:
          if (found(tags, line, ways, kDirty)) break;
          if (config_.write_allocate) {  // only the first write misses
            tally_->writes++;
            take_in(tags, line | kDirty, ways);
          } else {
            tally_->writes += access.times;
            tally_->dram_writes += access.times;
          }
          break;
        case BusAccess::ReadPast:
          tally_->reads += !found(tags, line, ways, 0);
          break;
        case BusAccess::Invalidate:
          if (found(tags, line, ways, 0)) {
            tally_->dram_writes += tags[0] >> 31;
            std::copy(tags + 1, tags + ways, tags);
            tags[ways - 1] = kNone;
          }
          break;
        case BusAccess::FlushCaches:
          std::fill(tags_.begin(), tags_.end(), kNone);
          break;
        case BusAccess::UseBank:
          tally_.use(access.address);
          break;
      }
    }
  }

  // If the set contains the line, moves the line to the front. Otherwise returns false.
  template <class Ways>
  static bool found(uint32_t* tags, uint32_t line, Ways ways, uint32_t state) {
    for (uint32_t way = 0; way < ways; way++) {
      const uint32_t tag = tags[way];
      if ((tag & ~kDirty) != line) continue;
      for (; way > 0; way--) tags[way] = tags[way - 1];
      tags[0] = tag | state;
      return true;
    }
    return false;
  }

  template <class Ways>
  void take_in(uint32_t* tags, uint32_t tag, Ways ways) {
    tally_->dram_writes += tags[ways - 1] >> 31;
    for (uint32_t way = ways - 1; way > 0; way--) tags[way] = tags[way - 1];
    tags[0] = tag;
  }

  p5::CacheConfig config_;
  uint32_t line_shift_, mask_;
  std::vector<uint32_t> tags_;  // [set][order]
  Tally tally_;
};

// An L2 with any replacement policy. A listener can observe each access.
class AnyL2 : public L2s {
 public:
  AnyL2(const p5::CacheConfig& l2, AccessListener* listener)
      : config_(as_write_back(l2)), cache_(config_, false), listener_(listener) {}

  bool add(const p5::CacheConfig& l2) override { return alike(config_, l2); }

  void play(const std::vector<BusAccess>& accesses) override {
    for (const BusAccess& access : accesses) {
      switch (access.kind) {
        case BusAccess::Read:
          read(access.address, p5::Fill::Exclusive);
          break;
        case BusAccess::ReadPast:
          read(access.address, p5::Fill::None);
          break;
        case BusAccess::Write:
          write(access.address, access.times);
          break;
        case BusAccess::Invalidate:
          if (listener_) listener_->invalidated(Level::L2, access.address, Use::Device);
          tally_->dram_writes += cache_.invalidate(access.address);
          break;
        case BusAccess::FlushCaches:
          cache_.invalidate_all();
          break;
        case BusAccess::UseBank:
          tally_.use(access.address);
          break;
      }
    }
  }

  L2Misses misses(const p5::CacheConfig&, size_t bank) const override { return tally_.of(bank); }

 private:
  static p5::CacheConfig as_write_back(p5::CacheConfig l2) {
    l2.write_back = true;
    return l2;
  }

  void read(uint32_t address, p5::Fill fill) {
    const p5::CacheAccess access = cache_.access(address, false, fill);
    if (listener_) listener_->access(Level::L2, address, false, access, fill != p5::Fill::None);
    tally_->reads += !access.hit;
    tally_->dram_writes += access.victim_dirty;
  }

  void write(uint32_t address, uint32_t times) {
    const p5::CacheAccess access = cache_.access(address, true);
    if (listener_) listener_->access(Level::L2, address, true, access, true);
    // If the first write has loaded the line, the other writes hit.
    const uint32_t alike = access.filled ? 1 : times;
    if (!access.hit) tally_->writes += alike;
    if (access.through || access.victim_dirty) tally_->dram_writes += alike;
    if (times > alike) write(address, times - alike);
  }

  p5::CacheConfig config_;
  p5::Cache cache_;
  AccessListener* listener_;
  Tally tally_;
};

// Whether the replacement policy is true LRU. With two ways, tree LRU is the same as true LRU.
bool has_lru(const p5::CacheConfig& l2) {
  return l2.policy == p5::PolicyName<p5::Lru>::name ||
         (l2.policy == p5::PolicyName<p5::Plru>::name && l2.ways == 2);
}

}  // namespace

std::unique_ptr<L2s> make_l2s(const p5::CacheConfig& l2, AccessListener* listener) {
  if (listener) return std::make_unique<AnyL2>(l2, listener);
  if (l2.ways == 1) return std::make_unique<DirectL2s>(l2);
  if (has_lru(l2)) return std::make_unique<LruL2>(l2);
  return std::make_unique<AnyL2>(l2, nullptr);
}

}  // namespace measure
