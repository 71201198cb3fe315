// SPDX-License-Identifier: MIT
// Which events does each shadow count separately? These events are kMissEvents (`depends` in
// events.toml).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "base/events.hh"

namespace measure {

// The counts of one shadow in one bank.
class MissCounts {
 public:
  uint64_t& operator[](base::events::Event event) { return counts_[place(event)]; }
  uint64_t operator[](base::events::Event event) const { return counts_[place(event)]; }
  void operator+=(const MissCounts& other) {
    for (size_t i = 0; i < counts_.size(); i++) counts_[i] += other.counts_[i];
  }
  bool operator!=(const MissCounts& other) const { return counts_ != other.counts_; }

 private:
  static constexpr size_t place(base::events::Event event) {
    size_t place = 0;
    while (base::events::kMissEvents[place] != event) place++;
    return place;
  }
  std::array<uint64_t, std::size(base::events::kMissEvents)> counts_{};
};

}  // namespace measure
