// SPDX-License-Identifier: MIT
#include "p5/fpu.hh"

#include "p5/rules.hh"

namespace p5 {
namespace {

constexpr uint32_t kMultiplyApart = 2;  // clocks between two FMULs [INTEL-OPT, AGN-IT]

bool divides(ClassId cls) {
  return cls == Class::Fdiv || cls == Class::Fidiv ||
         (cls >= Class::Fdiv24 && cls <= Class::Fidiv53);
}

}  // namespace

// Finds the registers that the instruction reads and writes, and the movement of the stack. The
// source is the opcode map of D8 to DF [INTEL-DM].
Fpu::Use Fpu::use_of(const Insn& insn) {
  if (insn.modrm < 0xC0) return use_of_memory(insn);
  const int escape = insn.opcode & 7, reg = insn.modrm >> 3 & 7;
  const auto sti = int8_t(insn.modrm & 7);
  Use use;
  switch (escape) {
    case 0:
    case 4:
    case 6:  // arithmetic; DC and DE write the result to ST(i), and DE pops
      use.sources[0] = 0;
      use.sources[1] = sti;
      if (reg == 2 || reg == 3)
        use.push = int8_t(escape == 6 ? -2 : reg == 3 ? -1 : 0);
      else
        use.result = escape == 0 ? 0 : sti, use.push = escape == 6 ? -1 : 0;
      break;
    case 1:
      return use_of_d9(insn);
    case 2:
      if (insn.modrm == 0xE9) use.sources[0] = 0, use.sources[1] = 1, use.push = -2;  // FUCOMPP
      break;
    case 5:
      if (reg == 2 || reg == 3) {  // FST ST(i), FSTP ST(i)
        use.sources[0] = 0;
        use.result = sti;
        use.push = reg == 3 ? -1 : 0;
      } else if (reg == 4 || reg == 5) {  // FUCOM, FUCOMP
        use.sources[0] = 0;
        use.sources[1] = sti;
        use.push = reg == 5 ? -1 : 0;
      }
      break;
    default:
      break;
  }
  return use;
}

Fpu::Use Fpu::use_of_memory(const Insn& insn) {
  const int escape = insn.opcode & 7, reg = insn.modrm >> 3 & 7;
  const bool arithmetic = !(escape & 1);
  Use use;
  if (arithmetic) {
    use.sources[0] = 0;
    if (reg == 2 || reg == 3)
      use.push = reg == 3 ? -1 : 0;  // compare and pop
    else
      use.result = 0;
  } else if (reg == 0 || (escape == 3 && reg == 5) || (escape == 7 && (reg == 4 || reg == 5))) {
    use.push = 1;  // FLD, FILD, FBLD
    use.result = -1;
  } else if (reg == 2 || reg == 3 || (escape == 3 && reg == 7) ||
             (escape == 7 && (reg == 6 || reg == 7))) {
    use.sources[0] = 0;  // FST, FIST, FBSTP
    use.store = true;
    use.push = reg == 2 ? 0 : -1;
  }
  return use;
}

// D9 with a register: FLD, FXCH, constants, and operations on the top of the stack.
Fpu::Use Fpu::use_of_d9(const Insn& insn) {
  const int reg = insn.modrm >> 3 & 7;
  const auto sti = int8_t(insn.modrm & 7);
  Use use;
  if (reg == 0) {  // FLD ST(i)
    use.sources[0] = sti;
    use.push = 1;
  } else if (reg == 1) {
    use.exchange = true;
    use.sources[0] = sti;
  } else if (reg == 5) {  // constants
    use.push = 1;
  } else if (reg >= 4) {
    use.sources[0] = 0;
    use.result = 0;
    switch (insn.modrm) {
      case 0xE4:
      case 0xE5:
        use.result = -1;
        break;  // FTST, FXAM
      case 0xF1:
      case 0xF3:
      case 0xF9:  // FYL2X, FPATAN, FYL2XP1
        use.sources[1] = use.result = 1, use.push = -1;
        break;
      case 0xF2:
      case 0xF4:
      case 0xFB:
        use.push = 1;
        break;  // FPTAN, FXTRACT, FSINCOS
      case 0xF6:
      case 0xF7:  // FDECSTP, FINCSTP
        use = Use();
        use.push = insn.modrm == 0xF6 ? 1 : -1;
        break;
      case 0xF5:
      case 0xF8:
      case 0xFD:
        use.sources[1] = 1;
        break;  // FPREM1, FPREM, FSCALE
      default:
        break;
    }
  }
  return use;
}

uint64_t Fpu::start(const Insn& insn, uint64_t now) const {
  const Use use = use_of(insn);
  uint64_t at = rule(Rule::X87Busy) ? std::max(now, free_) : now;
  for (const int8_t source : use.sources) {
    if (source < 0 || !rule(Rule::X87Operand)) continue;
    // A store can begin one clock after its operand is ready [INTEL-OPT].
    at = std::max(at, ready(source) + (use.store && rule(Rule::X87StoreEarly)));
  }
  if (rule(Rule::X87Multiply) && insn.cls == Class::Fmul) at = std::max(at, multiplier_);
  return at;
}

void Fpu::issue(const Insn& insn, uint64_t at, uint32_t clocks, uint32_t overlap) {
  const Use use = use_of(insn);
  if (use.exchange) {
    if (rule(Rule::X87Exchange)) std::swap(ready(0), ready(use.sources[0]));
    return;
  }
  if (insn.cls == Class::Fninit) top_ = 0;
  free_ = at + clocks - (rule(Rule::X87OverlapX87) ? std::min(overlap, clocks) : 0);
  if (insn.cls == Class::Fmul) multiplier_ = at + kMultiplyApart;
  const uint64_t done = at + clocks;
  if (divides(insn.cls)) divided_ = done;
  if (use.result >= 0) ready(use.result) = done;
  top_ = (top_ - unsigned(use.push)) & 7;
  if (use.push > 0) ready(0) = done;
}

}  // namespace p5
