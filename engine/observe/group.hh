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
  // The clock after which look() must be called.
  uint64_t next() const {
    uint64_t next = Observer::kNever;
    for (const Observer* one : all_) next = std::min(next, one->next());
    return next;
  }
  void look(uint64_t now) {
    bool moved = false;
    for (Observer* one : all_) {
      if (now <= one->next()) continue;
      one->look(now);
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
