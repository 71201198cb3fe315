// SPDX-License-Identifier: MIT
// Virtual time of the disks, and what is to happen when.
#pragma once

#include <cstdint>
#include <functional>
#include <map>

namespace disk {

using Time = uint64_t;  // picoseconds since power-up
constexpr Time kNever = ~Time(0);
constexpr Time kMicrosecond = 1000 * 1000;
constexpr Time kMillisecond = 1000 * kMicrosecond;
constexpr Time kSecond = 1000 * kMillisecond;

class Agenda {
 public:
  using Action = std::function<void(Time)>;

  void at(Time when, Action action) { actions_.emplace(when, std::move(action)); }
  Time next() const { return actions_.empty() ? kNever : actions_.begin()->first; }

  // All that is due up to `now`, in the order of time; what is due at the same time, in the order
  // in which it was entered. Each action is told the time it was entered for.
  void run(Time now) {
    while (next() <= now) {
      auto first = actions_.extract(actions_.begin());
      first.mapped()(first.key());
    }
  }

 private:
  std::multimap<Time, Action> actions_;
};

}  // namespace disk
