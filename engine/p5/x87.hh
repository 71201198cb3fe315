// SPDX-License-Identifier: MIT
// How do the pipes execute floating-point instructions? This part models four effects: the
// precision of a division, the clock at which the floating-point unit begins (fpu.hh), the overlap
// with the integer pipes, and the cost of an FXCH in V.
#pragma once

#include <cstdint>

#include "p5/core.hh"
#include "p5/fpu.hh"
#include "p5/insn.hh"

namespace p5 {

// Returns the number of floating-point operations (event 22h) of an instruction of this class.
uint32_t flops(ClassId cls);

class X87 {
 public:
  explicit X87(Core& core) : core_(core) {}

  // An FXCH in V is free if the next instruction is x87 as well [INTEL-OPT].
  void follow_exchange() {
    if (exchange_in_v_ && core_.bank->count[Instructions] == exchange_in_v_) {
      core_.spend(CpiX87Waits, uint64_t(-1));
    }
  }
  // Returns the class whose timing row applies to this instruction.
  ClassId timing_class(ClassId cls) const;
  // Begins an instruction. Returns the clock at which the floating-point unit begins the
  // instruction.
  uint64_t begin(const Insn& insn, bool in_v);
  // Ends an instruction that has passed through the pipes.
  void end(const Insn& insn, bool in_v, uint64_t began);

  // Waits for the divider, which also multiplies integers [AGN-IT].
  void wait_for_divider();
  // Whether the last instruction was an FST or FSTP to memory.
  bool stored() const { return core_.bank->count[Instructions] == store_; }

 private:
  Fpu fpu_;
  uint64_t exchange_in_v_ = 0;  // value of Instructions at the last FXCH in V
  uint64_t store_ = 0;          // value of Instructions at the last FST or FSTP to memory
  Core& core_;
};

}  // namespace p5
