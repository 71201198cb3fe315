// SPDX-License-Identifier: MIT
// A set-associative cache: tags and states only, no data and no time. L1I, L1D and the board L2
// are three of these. Addresses are physical, 32 bit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "replacement.hh"
#include "shortcut.hh"

namespace p5 {

// What fits together is declared in keys.toml and checked before a cache is made.
struct CacheConfig {
  uint32_t size = 0;  // bytes, power of two
  uint32_t ways = 1;
  uint32_t line = 32;  // bytes, power of two
  std::string policy = "lru";
  bool write_back = true;       // false: write-through, lines never dirty
  bool write_allocate = false;  // false: a write miss leaves the cache unchanged (INTEL-DM 2)
};

// What a line may become [INTEL-DM 3, MESI without the invalid state]: writes to a shared line go
// to the bus as well, an exclusive one is modified in the cache alone.
enum class Fill : uint8_t { None, Shared, Exclusive };

// What one access did.
struct CacheAccess {
  bool hit = false;
  bool filled = false;        // the line was brought in
  bool through = false;       // a write that goes on to the next level (miss, write-through
                              // or shared line)
  bool victim_dirty = false;  // the replaced line must be written back ...
  uint32_t victim = 0;        // ... to this address (of its first byte)
};

class Cache {
 public:
  // `quick` false: quick_read() and quick_write() are not used and their state not kept.
  explicit Cache(const CacheConfig& config, bool quick = true);

  // True when the access hits in the most recently used line of its set and changes no state:
  // the inlined way out for nearly all accesses. The caller counts the hit.
  bool quick_read(uint32_t address) const { return shortcut_.reads(address >> line_shift_); }
  bool quick_write(uint32_t address) const { return shortcut_.writes(address >> line_shift_); }
  Shortcut& shortcut() { return shortcut_; }

  // One read or write inside one line. `fill` is what a line comes in as after a miss (None: it
  // does not) and what a shared line becomes when it is written (None: it stays shared).
  CacheAccess access(uint32_t address, bool write, Fill fill = Fill::Exclusive) {
    const uint32_t line = address >> line_shift_, set = line & set_mask_;
    CacheAccess result;
    int way = find(line);
    if (way >= 0) {
      result.hit = true;
      replacement_.touch(set, uint32_t(way));
    } else if (fill == Fill::None || (write && !config_.write_allocate)) {
      result.through = write;
      return result;
    } else {
      way = take_in(line, fill, &result);
    }
    uint32_t& tag = tag_[size_t(set) * ways_ + uint32_t(way)];
    if (write) {
      result.through = !config_.write_back || tag & kShared;
      if (!result.through)
        tag |= kDirty;
      else if (fill == Fill::Exclusive)
        tag &= ~kShared;
    }
    if (quick_) shortcut_.set(line, tag & kDirty);
    return result;
  }

  // Is the line there, and dirty? Changes nothing.
  bool holds(uint32_t address) const { return find(address >> line_shift_) >= 0; }
  bool dirty(uint32_t address) const;

  // Makes a line clean (it was written back); returns whether it was dirty.
  bool clean(uint32_t address);

  // Another bus master reads a line: it is shared and clean from now on. Returns whether it was
  // dirty.
  bool share(uint32_t address);

  // Drops one line; returns whether it was dirty (the caller writes it back or loses it).
  bool invalidate(uint32_t address);

  // Drops everything without writing back (INVD); returns the number of dirty lines lost.
  uint32_t invalidate_all();

 private:
  // A tag is a line number with two bits of state on top; lines have at least 8 bytes, so kNone
  // is no line.
  static constexpr uint32_t kNone = 0x3FFFFFFF, kLine = 0x3FFFFFFF, kShared = 0x40000000,
                            kDirty = 0x80000000;

  int find(uint32_t line) const {
    const uint32_t set = line & set_mask_;
    const uint32_t* tags = &tag_[size_t(set) * ways_];
    if ((tags[0] & kLine) == line) return 0;
    if (ways_ == 1) return -1;
    if ((tags[1] & kLine) == line) return 1;
    for (uint32_t way = 2; way < ways_; way++) {
      if ((tags[way] & kLine) == line) return int(way);
    }
    return -1;
  }
  uint32_t& tag(uint32_t line, int way) { return tag_[size_t(line & set_mask_) * ways_ + way]; }
  int take_in(uint32_t line, Fill fill, CacheAccess* result);  // the way it is in
  int find_invalid(uint32_t set) const;
  bool settle(uint32_t line, uint32_t state);  // clean, and `state` as well

  CacheConfig config_;
  uint32_t line_shift_;
  uint32_t set_mask_;
  uint32_t ways_;
  bool quick_;
  Shortcut shortcut_;          // writes: to lines that are dirty already
  std::vector<uint32_t> tag_;  // [set][way]
  Replacement replacement_;
};

}  // namespace p5
