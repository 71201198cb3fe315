// SPDX-License-Identifier: MIT
// The shortcut of a set-associative array: what was used last in each set. To refer to it again
// hits and changes nothing in the array, and that is what nearly all references do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "isa.hh"

namespace p5 {

class Shortcut {
 public:
  explicit Shortcut(uint32_t sets) : mask_(sets - 1), last_(sets) {}

  // Keys are numbers of lines or pages. `writes`: also a write to it changes nothing.
  bool reads(Linear key) const { return last_[key & mask_].read == key; }
  bool writes(Linear key) const { return last_[key & mask_].write == key; }

  // The key was used.
  void set(Linear key, bool writes) { last_[key & mask_] = {key, writes ? key : kNone}; }
  // A write to the key may change something.
  void forget_write(Linear key) {
    if (writes(key)) last_[key & mask_].write = kNone;
  }
  // So may any use of what is in its place.
  void forget(Linear key) { last_[key & mask_] = {}; }
  void clear() { std::fill(last_.begin(), last_.end(), Last()); }

  // For no more sets than that, and empty.
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
