// SPDX-License-Identifier: MIT
// Which random addresses exercise a cache? The stream mixes several kinds of addresses: a hot
// region that fits into the cache, a warm region that is a few times larger than the cache,
// sequences of adjacent addresses, strides that always use the same set, and stray addresses. The
// stream is the same on every host.
#pragma once

#include <cstdint>
#include <random>

class AddressStream {
 public:
  // `capacity` is the size of the structure under test, in bytes (or in pages, with units of
  // `grain`).
  AddressStream(uint32_t seed, uint32_t capacity, uint32_t grain)
      : random_(seed), capacity_(capacity), grain_(grain) {}

  uint32_t next() {
    switch (random_() % 16) {
      case 0:
      case 1:
      case 2:
      case 3:
      case 4:
        return last_ = hot_ + random_() % (capacity_ / 2);
      case 5:
      case 6:
      case 7:
        return last_ = hot_ + random_() % (3 * capacity_);
      case 8:
      case 9:
      case 10:
        return last_ += grain_ / 2;
      case 11:
      case 12:
        return last_ += capacity_;  // the same set again
      case 13:
      case 14:
        return last_;
      default:
        // The hot region moves from time to time, as in a new phase of a program.
        if (random_() % 4096 == 0) hot_ = uint32_t(random_());
        return last_ = uint32_t(random_());
    }
  }

  uint32_t below(uint32_t limit) { return uint32_t(random_()) % limit; }

 private:
  std::mt19937 random_;  // the C++ standard fixes its sequence
  uint32_t capacity_, grain_;
  uint32_t hot_ = 0x00345678, last_ = 0;
};
