// SPDX-License-Identifier: MIT
// When can the floating-point unit begin an instruction, and when is a result ready? The unit is a
// separate pipeline. Most instructions leave the integer pipes before the floating-point unit has
// completed them [INTEL-OPT, AGN-MA].
#pragma once

#include <algorithm>
#include <cstdint>

#include "p5/classes.hh"
#include "p5/insn.hh"

namespace p5 {

class Fpu {
 public:
  // Returns the first clock, at `now` or later, at which `insn` can begin. The operands of `insn`
  // must be ready, and the unit must be free.
  uint64_t start(const Insn& insn, uint64_t now) const;

  // Returns the clock at which the last division ends.
  uint64_t divided() const { return divided_; }

  // Begins `insn` at clock `at`. The instruction takes `clocks` clocks. Later floating-point
  // instructions may overlap the last `overlap` clocks.
  void issue(const Insn& insn, uint64_t at, uint32_t clocks, uint32_t overlap);

 private:
  // Register numbers are relative to the top of the stack before the instruction.
  struct Use {
    int8_t sources[2] = {-1, -1};
    int8_t result = -1;
    int8_t push = 0;  // number of registers pushed; negative: popped
    bool store = false, exchange = false;
  };
  static Use use_of(const Insn& insn);
  static Use use_of_memory(const Insn& insn);
  static Use use_of_d9(const Insn& insn);
  uint64_t& ready(int from_top) { return ready_[(top_ + unsigned(from_top)) & 7]; }
  uint64_t ready(int from_top) const { return ready_[(top_ + unsigned(from_top)) & 7]; }

  uint64_t ready_[8] = {};   // [register] clock at which its value is ready
  uint64_t free_ = 0;        // clock at which the unit accepts the next instruction
  uint64_t multiplier_ = 0;  // clock at which the unit accepts the next multiplication
  uint64_t divided_ = 0;
  unsigned top_ = 0;
};

}  // namespace p5
