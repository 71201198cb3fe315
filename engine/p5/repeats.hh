// SPDX-License-Identifier: MIT
// What do repeated string instructions cost? An instruction that is interrupted and resumed is
// counted only once.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "p5/core.hh"
#include "p5/insn.hh"

namespace p5 {

class Repeats {
 public:
  explicit Repeats(Core& core);

  // An instruction begins. The instruction may be a REP. `next` is the address after the last
  // instruction. Returns false if the emulator continues the current REP. In this case the REP has
  // already been counted.
  bool begin(const Insn& insn, Linear linear, Linear next);
  // Moves the set-up clocks of the current REP into its first iteration.
  void put_off_setup();

  // Returns the clocks of one iteration. Call iterated() after each iteration.
  uint32_t iteration_clocks(const Core& core) const {
    if (!core.timing_on) return 1;
    return (rule(Rule::RepIteration) ? per_iteration_[class_] : 0) + setup_;
  }
  void iterated() { setup_ = 0; }

  // Whether the REP at `linear` is still in progress. If another instruction has retired after the
  // REP, the REP has ended, and `next` differs from behind_. This check is necessary because the
  // fast path does not call this class, and a loop may return to the same REP.
  bool continues(Linear linear, Linear next) const {
    return active_ && linear_ == linear && next == behind_;
  }
  bool active() const { return active_; }
  // An interrupt or exception. Control returns to `resume`. A REP that resumes at this address is
  // not counted a second time.
  void interrupt(Linear resume, Linear next);

 private:
  static constexpr size_t kMaxInterrupted = 64;

  const uint16_t* per_iteration_;  // [class]
  ClassId class_ = 0;
  uint32_t setup_ = 0;  // set-up clocks that the first iteration must add
  Linear linear_ = 0;   // address of the current REP
  Linear behind_ = 0;   // address after the current REP
  bool active_ = false;
  std::vector<std::pair<Space, Linear>> interrupted_;
  Core& core_;
};

}  // namespace p5
