// SPDX-License-Identifier: MIT
// How do all observers of a run learn what the processor does, and the values of each other?
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "observe/observer.hh"

namespace observe {

class Group {
 public:
  Group() = default;
  explicit Group(std::vector<Observer*> all) : all_(std::move(all)) {
    for (Observer* one : all_) {
      if (one->sees_each()) each_.push_back(one);
    }
  }

  const std::vector<Observer*>& all() const { return all_; }
  // Those that see each instruction.
  const std::vector<Observer*>& each() const { return each_; }

  // Reports what the processor does to all of them. Then they take the values of the others.
  template <class Report>
  void tell(Report report) {
    for (Observer* one : all_) report(*one);
    for (Observer* one : all_) one->join();
  }
  // Call this before each instruction, if each() is not empty.
  void at(p5::Linear linear, p5::Linear stack) {
    bool moved = false;
    for (Observer* one : each_) moved |= one->at(linear, stack);
    if (moved) join();
  }
  // The first deadline, after which look() must be called.
  uint64_t deadline() const {
    uint64_t first = Observer::kNever;
    for (const Observer* one : all_) first = std::min(first, one->deadline());
    return first;
  }
  void look(uint64_t now) {
    bool moved = false;
    for (Observer* one : all_) {
      if (now <= one->deadline()) continue;
      one->reached(now);
      moved = true;
    }
    if (moved) join();
  }

 private:
  // The values of some have changed.
  void join() {
    for (Observer* one : all_) one->leave();
    for (Observer* one : all_) one->join();
  }

  std::vector<Observer*> all_, each_;
};

}  // namespace observe
