// SPDX-License-Identifier: MIT
// Which lines does a cache hold, and in which state? The model of a set-associative cache consists
// of tags and states. The model contains no data and no times. L1I, L1D and the board L2 are such
// caches. Addresses are physical and have 32 bits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "p5/replacement.hh"
#include "p5/shortcut.hh"

namespace p5 {

// keys.toml declares the constraints between these values. The constraints are checked before a
// cache is created.
struct CacheConfig {
  uint32_t size = 0;  // bytes, power of two
  uint32_t ways = 1;
  uint32_t line = 32;  // bytes, power of two
  std::string policy = "lru";
  bool write_back = true;       // false: write-through, lines never dirty
  bool write_allocate = false;  // false: a write miss leaves the cache unchanged (INTEL-DM 2)
};

// The state of a line after a fill [INTEL-DM 3, MESI without the invalid state]. A write to a
// shared line also goes to the bus. A write to an exclusive line changes only the cache.
enum class Fill : uint8_t { None, Shared, Exclusive };

// The result of one access.
struct CacheAccess {
  bool hit = false;
  bool filled = false;          // the access filled the line
  bool through = false;         // write that the next level also gets (miss, write-through, shared)
  bool victim_dirty = false;    // the replaced line must be written back
  uint32_t victim = kNoVictim;  // address of the first byte of that line

  static constexpr uint32_t kNoVictim = ~0u;  // no line was replaced
};

class Cache {
 public:
  // If `quick` is false, quick_read() and quick_write() must not be called, because the cache does
  // not update the data that these functions use.
  explicit Cache(const CacheConfig& config, bool quick = true);

  // If the result is true, the access hits in the last-used line of its set and changes no state.
  // Nearly all accesses take this inline path. The caller counts the hit.
  bool quick_read(uint32_t address) const { return shortcut_.reads(address >> line_shift_); }
  bool quick_write(uint32_t address) const { return shortcut_.writes(address >> line_shift_); }
  // If the result is true, quick_read() is true for this line and for the line behind it.
  bool quick_pair(uint32_t address) const { return shortcut_.pairs(address >> line_shift_); }
  // From now on, quick_pair() may be true for this line. part(): an access to this line has changed
  // what is behind the line before. Only a cache that is never written has pairs.
  void pair(uint32_t address) { shortcut_.pair(address >> line_shift_); }
  void part(uint32_t address) { shortcut_.part(address >> line_shift_); }
  Shortcut& shortcut() { return shortcut_; }
  // The next access to this line must not take the inline path.
  void forget_quick(uint32_t address) { shortcut_.forget(address >> line_shift_); }

  // Reads or writes inside one line. `fill` is the state of a line that is filled after a miss. If
  // `fill` is None, a miss fills no line. `fill` also controls a write to a shared line. The line
  // becomes exclusive if `fill` is Exclusive, and otherwise stays shared.
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

  // Whether the cache holds the line (holds), and whether the line is dirty (dirty). Changes
  // nothing.
  bool holds(uint32_t address) const { return find(address >> line_shift_) >= 0; }
  bool dirty(uint32_t address) const;

  // Makes a line clean after its write-back. Returns whether the line was dirty.
  bool clean(uint32_t address);

  // Another bus master reads a line. The line becomes shared and clean. Returns whether the line
  // was dirty.
  bool share(uint32_t address);

  // Removes one line. Returns whether the line was dirty. The caller decides whether a dirty line
  // is written back.
  bool invalidate(uint32_t address) {
    const uint32_t line = address >> line_shift_;
    const int way = find(line);
    return way >= 0 && remove(line, way);
  }

  // Removes all lines without a write-back (INVD). Returns the number of dirty lines.
  uint32_t invalidate_all();

 private:
  // A tag contains the line number in its low bits and two state bits in its highest bits. Lines
  // have at least 8 bytes, so no line has the number kNone.
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
  int take_in(uint32_t line, Fill fill, CacheAccess* result);  // returns the way of the line
  bool remove(uint32_t line, int way);                         // returns whether the line was dirty
  int find_invalid(uint32_t set) const;
  bool settle(uint32_t line, uint32_t state);  // makes the line clean and sets `state`

  CacheConfig config_;
  uint32_t line_shift_;
  uint32_t set_mask_;
  uint32_t ways_;
  bool quick_;
  Shortcut shortcut_;          // accepts writes only to lines that are already dirty
  std::vector<uint32_t> tag_;  // [set][way]
  Replacement replacement_;
};

}  // namespace p5
