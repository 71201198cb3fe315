// SPDX-License-Identifier: MIT
// The shortcut of a set-associative array: what was used last in each set. To refer to it again
// hits and changes nothing in the array, and that is what nearly all references do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace p5 {

class Shortcut {
 public:
  explicit Shortcut(uint32_t sets) : mask_(sets - 1), last_(sets) {}

  // Keys are numbers of lines or pages. `writes`: also a write to it changes nothing.
  bool reads(uint32_t key) const { return last_[key & mask_].read == key; }
  bool writes(uint32_t key) const { return last_[key & mask_].write == key; }

  // The key was used.
  void set(uint32_t key, bool writes) { last_[key & mask_] = {key, writes ? key : kNone}; }
  // A write to the key may change something.
  void forget_write(uint32_t key) {
    if (writes(key)) last_[key & mask_].write = kNone;
  }
  // So may any use of what is in its place.
  void forget(uint32_t key) { last_[key & mask_] = {}; }
  void clear() { std::fill(last_.begin(), last_.end(), Last()); }

  // For no more sets than that, and empty.
  void narrow(uint32_t sets) {
    mask_ = std::min(mask_, sets - 1);
    clear();
  }

 private:
  static constexpr uint32_t kNone = ~0u;
  struct Last {
    uint32_t read = kNone, write = kNone;
  };

  uint32_t mask_;
  std::vector<Last> last_;
};

}  // namespace p5
