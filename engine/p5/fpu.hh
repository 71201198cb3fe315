// SPDX-License-Identifier: MIT
// When the floating-point unit can begin an instruction and when a register has its result. The
// unit is a pipeline of its own: most instructions leave the integer pipes before they are done
// [INTEL-OPT, AGN-MA].
#pragma once

#include <algorithm>
#include <cstdint>

#include "classes.hh"
#include "insn.hh"

namespace p5 {

class Fpu {
 public:
  // The first clock, not before `now`, at which the operands of `insn` are there and the unit is
  // free for it.
  uint64_t start(const Insn& insn, uint64_t now) const;

  // When the last division is done.
  uint64_t divided() const { return divided_; }

  // `insn` begins at clock `at` and takes `clocks`. Later floating-point instructions may use the
  // last `overlap` of them.
  void issue(const Insn& insn, uint64_t at, uint32_t clocks, uint32_t overlap);

 private:
  // Registers counted from the top of the stack before the instruction.
  struct Use {
    int8_t sources[2] = {-1, -1};
    int8_t result = -1;
    int8_t push = 0;  // registers pushed, or popped if negative
    bool store = false, exchange = false;
  };
  static Use use_of(const Insn& insn);
  static Use use_of_memory(const Insn& insn);
  static Use use_of_d9(const Insn& insn);
  uint64_t& ready(int from_top) { return ready_[(top_ + unsigned(from_top)) & 7]; }
  uint64_t ready(int from_top) const { return ready_[(top_ + unsigned(from_top)) & 7]; }

  uint64_t ready_[8] = {};   // by register
  uint64_t free_ = 0;        // the unit accepts the next instruction
  uint64_t multiplier_ = 0;  // ... the next multiplication
  uint64_t divided_ = 0;
  unsigned top_ = 0;
};

}  // namespace p5
