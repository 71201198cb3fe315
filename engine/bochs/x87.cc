// SPDX-License-Identifier: LGPL-2.1-or-later
// How does the x87 report errors with CR0.NE = 0, and how does it divide on the first steppings?
#include "bochs.h"
#include "bochs/glue.hh"
#include "cpu/cpu.h"
#include "iodev/iodev.h"
#include "x87/divider.hh"

// FERR# is active. An instruction that finds no pending error has made it inactive (patch 0019).
bool p5_ferr = false;

bool p5_flawed_divider = false;

namespace {

// IGNNE# is active. The board asserts it at a write to port F0h, until FERR# is inactive.
bool ignored = false;

bool pending() { return BX_CPU(0)->the_i387.get_partial_status() & FPU_SW_Summary; }

void report() {
  if (p5_ferr) return;
  p5_ferr = true;
  ignored = false;
  DEV_pic_raise_irq(13);
}

// Whether an error is reported before the next waiting instruction. `opcode`: the low bits of the
// first byte and the second byte. The 486 and the Pentium report at once invalid operations and
// denormal operands of transcendental functions, FSCALE, FXTRACT and FPREM, and all errors but
// precision of stores to memory [Intel, Architecture Software Developer's Manual, volume 1, 1999,
// appendix E.2.1.1]. Estimate: that the other functions of these opcodes do so too.
bool at_once(unsigned opcode, unsigned exceptions, bool is_store) {
  if (is_store) return exceptions & ~FPU_EX_Precision;
  constexpr unsigned kFsqrt = 0x1FA, kFrndint = 0x1FC;
  const bool function =
      opcode >= 0x1F0 && opcode <= 0x1FF && opcode != kFsqrt && opcode != kFrndint;
  return function && exceptions & (FPU_EX_Invalid | FPU_EX_Denormal);
}

}  // namespace

void p5_x87_error(unsigned opcode, unsigned exceptions, bool is_store) {
  if (!pending()) p5_ferr = false;
  if (at_once(opcode, exceptions, is_store)) report();
}

bool p5_x87_waits(void) {
  if (p5_ferr && ignored) return false;
  report();
  bochs::hold();
  return true;
}

void p5_x87_answered(void) {
  DEV_pic_lower_irq(13);
  ignored = p5_ferr && pending();
}

uint64_t p5_flawed_quotient(uint64_t a, uint64_t b, int32_t* exponent, uint64_t* rest) {
  const x87::Quotient made = x87::divide(a, b, true);
  *exponent -= made.below_1;
  *rest = made.rest;
  return made.significand;
}
