// SPDX-License-Identifier: MIT
// Which access changes nothing in a set-associative array? The shortcut holds the last-used entry
// of each set. The next use of the same entry hits and changes nothing. Nearly all accesses are
// uses of this kind.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "p5/isa.hh"

namespace p5 {

class Shortcut {
 public:
  explicit Shortcut(uint32_t sets) : mask_(sets - 1), last_(sets) {}

  // Keys are numbers of lines or pages. reads() returns whether a read of the key changes nothing,
  // and writes() whether a write changes nothing.
  bool reads(Linear key) const { return last_[key & mask_].read == key; }
  bool writes(Linear key) const { return last_[key & mask_].write == key; }

  // The key has been used. If `writes` is true, later writes to the key change nothing.
  void set(Linear key, bool writes) { last_[key & mask_] = {key, writes ? key : kNone}; }
  // From now on, a write to the key may change something.
  void forget_write(Linear key) {
    if (writes(key)) last_[key & mask_].write = kNone;
  }
  // From now on, every use of the key's set may change something.
  void forget(Linear key) {
    last_[key & mask_] = {};
    part(key);
  }
  void clear() { std::fill(last_.begin(), last_.end(), Last()); }

  // L1I is never written. Its shortcut says with `write` that a read of the line and of the line
  // behind it changes nothing, for the prefetcher (fetch_ahead.hh).
  bool pairs(Linear key) const { return writes(key); }
  // Connects the line with the line behind it, if a read of either changes nothing.
  void pair(Linear key) {
    if (reads(key) && reads(key + 1)) last_[key & mask_].write = key;
  }
  // The entry of the key's set has changed, so the line before it has nothing certain behind it.
  void part(Linear key) { last_[(key - 1) & mask_].write = kNone; }

  // Limits the shortcut to this number of sets, and empties the shortcut.
  void narrow(uint32_t sets) {
    mask_ = std::min(mask_, sets - 1);
    clear();
  }

 private:
  static constexpr Linear kNone = ~Linear(0);
  struct Last {
    Linear read = kNone, write = kNone;
  };

  uint32_t mask_;
  std::vector<Last> last_;
};

}  // namespace p5
