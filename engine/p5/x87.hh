// SPDX-License-Identifier: MIT
// What the pipes do with floating-point instructions: which precision a division has, when the unit
// (fpu.hh) begins, what the integer pipes overlap, and what an FXCH in V costs.
#pragma once

#include <cstdint>

#include "core.hh"
#include "fpu.hh"
#include "insn.hh"

namespace p5 {

// Event 22h: floating-point operations of an instruction of this class.
uint32_t flops(ClassId cls);

class X87 {
 public:
  explicit X87(Core& core) : core_(core) {}

  // An FXCH in V is free if the next instruction is x87 as well [INTEL-OPT].
  void follow_exchange() {
    if (exchange_in_v_ && core_.bank->count[Instructions] == exchange_in_v_) core_.clock--;
  }
  // The class that has the timing row of this instruction.
  ClassId timing_class(ClassId cls) const;
  // An instruction begins; the clock in which it does.
  uint64_t begin(const Insn& insn, bool in_v);
  // It has gone through the pipes since.
  void end(const Insn& insn, bool in_v, uint64_t began);

  // The divider multiplies integers as well [AGN-IT]: waits for it.
  void wait_for_divider();
  // Was the last instruction an FST or FSTP to memory?
  bool stored() const { return core_.bank->count[Instructions] == store_; }

 private:
  Fpu fpu_;
  uint64_t exchange_in_v_ = 0;  // instructions counted when the last FXCH went into V ...
  uint64_t store_ = 0;          // ... and at the last FST or FSTP to memory
  Core& core_;
};

}  // namespace p5
