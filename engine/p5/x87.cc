// SPDX-License-Identifier: MIT
#include "p5/x87.hh"

#include <algorithm>

namespace p5 {
namespace {

constexpr unsigned kPrecisionBit = 8;  // in the x87's control word: 0 is 24 bits, 2 is 53, 3 is 64

// Returns the timing row of a division with the precision of the control word.
ClassId divide_class(ClassId cls, uint16_t control) {
  const unsigned precision = control >> kPrecisionBit & 3;
  if (precision == 0) return cls == Class::Fdiv ? Class::Fdiv24 : Class::Fidiv24;
  if (precision == 2) return cls == Class::Fdiv ? Class::Fdiv53 : Class::Fidiv53;
  return cls;
}

}  // namespace

// An addition, a multiplication (also of integers), a division, a remainder or a root counts as one
// operation. A transcendental function counts as "several" operations [INTEL-DM 16].
uint32_t flops(ClassId cls) {
  constexpr uint32_t kTranscendental = 10;  // estimate: number of terms in its series
  switch (cls) {
    case Class::Fadd:
    case Class::Fmul:
    case Class::Fdiv:
    case Class::Fiadd:
    case Class::Fidiv:
    case Class::Fprem:
    case Class::Fprem1:
    case Class::Fsqrt:
      return 1;
    case Class::Fsin:
    case Class::Fsincos:
    case Class::F2xm1:
    case Class::Fyl2x:
    case Class::Fyl2xp1:
    case Class::Fptan:
    case Class::Fpatan:
      return kTranscendental;
    default:
      return multiplies(cls);
  }
}

ClassId X87::timing_class(ClassId cls) const {
  if (!rule(Rule::X87Precision) || (cls != Class::Fdiv && cls != Class::Fidiv)) return cls;
  return divide_class(cls, core_.platform.x87_control());
}

uint64_t X87::begin(const Insn& insn, bool in_v) {
  if (!in_v) core_.spend(CpiX87Waits, fpu_.start(insn, core_.clock) - core_.clock);
  return core_.clock;
}

void X87::end(const Insn& insn, bool in_v, uint64_t began) {
  fpu_.issue(insn, began, core_.clocks[insn.cls], core_.timing.fp_overlap()[insn.cls]);
  if (insn.cls == Class::FstMem || insn.cls == Class::FstM80) {
    store_ = core_.bank->count[Instructions];
  }
  if (in_v) {
    if (!rule(Rule::FxchThenX87)) return;
    exchange_in_v_ = core_.bank->count[Instructions];
    core_.spend(CpiX87Waits, 1);
  } else if (rule(Rule::X87OverlapInteger)) {
    core_.clock -= core_.timing.int_overlap()[insn.cls];
  }
}

void X87::wait_for_divider() {
  if (!rule(Rule::X87MultiplyWaits) || fpu_.divided() <= core_.clock) return;
  core_.spend(CpiX87Waits, fpu_.divided() - core_.clock);
}

}  // namespace p5
