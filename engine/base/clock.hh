// SPDX-License-Identifier: MIT
// How are clocks of the processor converted to virtual time, and back?
#pragma once

#include <cstdint>

#include "base/agenda.hh"

namespace base {

class Clock {
 public:
  explicit Clock(uint64_t hz = 1) : hz_(hz) {}

  uint64_t hz() const { return hz_; }

  // The time after a number of clocks, rounded down to picoseconds.
  Time time(uint64_t clocks) const { return Time(Wide(clocks) * kSecond / hz_); }

  // The number of whole clocks in a time.
  uint64_t clocks(Time time) const { return uint64_t(Wide(time) * hz_ / kSecond); }

  // The first clock that is not earlier than a time: time(first_clock(t)) >= t.
  uint64_t first_clock(Time time) const {
    return uint64_t((Wide(time) * hz_ + kSecond - 1) / kSecond);
  }

 private:
  using Wide = unsigned __int128;

  uint64_t hz_;
};

}  // namespace base
