// SPDX-License-Identifier: MIT
// Repeated string instructions: what their iterations cost, and that one which is interrupted and
// resumed counts once.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "core.hh"
#include "insn.hh"

namespace p5 {

class Repeats {
 public:
  explicit Repeats(Core& core);

  // An instruction begins that may be a REP; `next` is the address behind the last one. False: the
  // emulator goes on with the REP that is under way, which counts nothing more.
  bool begin(const Insn& insn, Linear linear, Linear next);
  // The set-up of the REP that has begun is paid for by its first iteration.
  void put_off_setup();

  // Clocks of one iteration; iterated() after each.
  uint32_t iteration_clocks(const Core& core) const {
    if (!core.timing_on) return 1;
    return (rule(Rule::RepIteration) ? per_iteration_[class_] : 0) + setup_;
  }
  void iterated() { setup_ = 0; }

  // Is the REP at `linear` still under way? Not once something has retired behind it: the fast
  // path reports nothing here, and a loop may come back to the same REP.
  bool continues(Linear linear, Linear next) const {
    return active_ && linear_ == linear && next == behind_;
  }
  bool active() const { return active_; }
  // An interrupt or exception; control returns to `resume`. A REP that will be resumed there is not
  // counted a second time.
  void interrupt(Linear resume, Linear next);

 private:
  static constexpr size_t kMaxInterrupted = 64;

  const uint16_t* per_iteration_;  // [class]
  ClassId class_ = 0;
  uint32_t setup_ = 0;  // clocks that the first iteration brings
  Linear linear_ = 0;   // of the REP instruction under way ...
  Linear behind_ = 0;   // ... and of the instruction behind it
  bool active_ = false;
  std::vector<std::pair<Space, Linear>> interrupted_;
  Core& core_;
};

}  // namespace p5
