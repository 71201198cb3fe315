// SPDX-License-Identifier: MIT
// Which component does the last clock before a change of place get? The CPI stack knows it only
// when the next instruction begins (p5/cpi_stack.hh). Until then the clock is in CpiSingleOther. An
// observer that has counted it there moves it to its component, so that it stays in its place.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>

#include "p5/pentium.hh"

namespace observe {

class LateClock {
 public:
  // `move`: moves the clock from CpiSingleOther to its component, in the counts and in what the
  // observer has seen of the bank.
  LateClock(p5::Pentium& model, std::function<void(p5::Event)> move) : stack_(model.stack()) {
    stack_.tell([this, move = std::move(move)](p5::Event component) {
      if (number_ != stack_.lent()) return;
      number_ = 0;
      move(component);
    });
  }
  LateClock(const LateClock&) = delete;
  LateClock& operator=(const LateClock&) = delete;

  // The observer has read the counts after model.settle(). Returns whether such a clock is among
  // those that it has read now.
  bool read() {
    const uint64_t before = std::exchange(number_, stack_.lent());
    return number_ != before && number_;
  }

 private:
  p5::CpiStack& stack_;
  uint64_t number_ = 0;  // of the clock; 0: it has its component
};

}  // namespace observe
