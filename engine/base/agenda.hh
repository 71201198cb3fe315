// SPDX-License-Identifier: MIT
// Which actions run at which virtual time? The unit of virtual time is the picosecond.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <utility>

namespace base {

using Time = uint64_t;  // picoseconds since power-up
constexpr Time kNever = ~Time(0);
constexpr Time kMicrosecond = 1000 * 1000;
constexpr Time kMillisecond = 1000 * kMicrosecond;
constexpr Time kSecond = 1000 * kMillisecond;

class Agenda {
 public:
  using Action = std::function<void(Time)>;

  // Adds an action that runs at a given time. When the action runs, its argument is `when`.
  void at(Time when, Action action) { actions_.emplace(when, std::move(action)); }

  // Returns the time of the first action, or kNever if there is no action.
  Time next() const { return actions_.empty() ? kNever : actions_.begin()->first; }

  // Runs all actions that are due up to `now`, in the order of time. Actions with the same time run
  // in the order of their at() calls.
  void run(Time now) {
    while (next() <= now) {
      auto first = actions_.extract(actions_.begin());
      first.mapped()(first.key());
    }
  }

 private:
  std::multimap<Time, Action> actions_;
};

}  // namespace base
