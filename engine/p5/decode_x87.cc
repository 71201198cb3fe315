// SPDX-License-Identifier: MIT
#include "p5/decode_parts.hh"
#include "p5/opcodes.hh"

namespace p5 {
namespace {

using namespace opcodes;

constexpr ClassId kFpuMem[8][8] = {
    {C::Fadd, C::Fmul, C::Fcom, C::Fcom, C::Fadd, C::Fadd, C::Fdiv, C::Fdiv},
    {C::Fld, C::Unknown, C::FstMem, C::FstMem, C::Fldenv, C::Fldcw, C::Fnstenv, C::Fnstcw},
    {C::Fiadd, C::Fiadd, C::Ficom, C::Ficom, C::Fiadd, C::Fiadd, C::Fidiv, C::Fidiv},
    {C::Fild, C::Unknown, C::Fist, C::Fist, C::Unknown, C::FldM80, C::Unknown, C::FstM80},
    {C::Fadd, C::Fmul, C::Fcom, C::Fcom, C::Fadd, C::Fadd, C::Fdiv, C::Fdiv},
    {C::Fld, C::Unknown, C::FstMem, C::FstMem, C::Frstor, C::Unknown, C::Fnsave, C::Fnstsw},
    {C::Fiadd, C::Fiadd, C::Ficom, C::Ficom, C::Fiadd, C::Fiadd, C::Fidiv, C::Fidiv},
    {C::Fild, C::Unknown, C::Fist, C::Fist, C::Fbld, C::Fild, C::Fbstp, C::Fist},
};

// Register forms that accept all eight rm values. DC to DF include the undocumented aliases.
// fpu_single() decodes the other forms, which are Unknown in this table.
constexpr ClassId kFpuReg[8][8] = {
    {C::Fadd, C::Fmul, C::Fcom, C::Fcom, C::Fadd, C::Fadd, C::Fdiv, C::Fdiv},
    {C::Fld, C::Fxch, C::Unknown, C::FstReg, C::Unknown, C::Unknown, C::Unknown, C::Unknown},
    {C::Fcmov, C::Fcmov, C::Fcmov, C::Fcmov, C::Unknown, C::Unknown, C::Unknown, C::Unknown},
    {C::Fcmov, C::Fcmov, C::Fcmov, C::Fcmov, C::Unknown, C::Fcomi, C::Fcomi, C::Unknown},
    {C::Fadd, C::Fmul, C::Fcom, C::Fcom, C::Fadd, C::Fadd, C::Fdiv, C::Fdiv},
    {C::Ffree, C::Fxch, C::FstReg, C::FstReg, C::Fcom, C::Fcom, C::Unknown, C::Unknown},
    {C::Fadd, C::Fmul, C::Fcom, C::Unknown, C::Fadd, C::Fadd, C::Fdiv, C::Fdiv},
    {C::Ffree, C::Fxch, C::FstReg, C::FstReg, C::Unknown, C::Fcomi, C::Fcomi, C::Unknown},
};

// D9 E0 to D9 FF: each value of ModRM is a separate operation.
constexpr ClassId kFpuD9[32] = {
    C::Fchs,    C::Fchs,    C::Unknown,  C::Unknown,  C::Ftst,     C::Fxam,     C::Unknown,
    C::Unknown, C::FldZero, C::FldConst, C::FldConst, C::FldConst, C::FldConst, C::FldConst,
    C::FldZero, C::Unknown, C::F2xm1,    C::Fyl2x,    C::Fptan,    C::Fpatan,   C::Fxtract,
    C::Fprem1,  C::Ffree,   C::Ffree,    C::Fprem,    C::Fyl2xp1,  C::Fsqrt,    C::Fsincos,
    C::Frndint, C::Fscale,  C::Fsin,     C::Fsin,
};

ClassId fpu_single(uint8_t opcode, uint8_t modrm) {
  if (opcode == 0xD9 && modrm >= 0xE0) return kFpuD9[modrm - 0xE0];
  switch (opcode << 8 | modrm) {
    case 0xD9D0:
      return C::Fnop;
    case 0xDAE9:
      return C::Fcom;  // FUCOMPP
    case 0xDBE0:
    case 0xDBE1:
    case 0xDBE4:
      return C::Fnop;  // FNENI FNDISI FNSETPM
    case 0xDBE2:
      return C::Fnclex;
    case 0xDBE3:
      return C::Fninit;
    case 0xDED9:
      return C::Fcom;  // FCOMPP
    case 0xDFE0:
      return C::Fnstsw;
    default:
      return C::Unknown;
  }
}

}  // namespace

void decode_fpu(DecodedInsn* out) {
  const unsigned escape = out->opcode & 7, reg = out->modrm >> 3 & 7;
  if (out->modrm < 0xC0) {
    out->cls = kFpuMem[escape][reg];
    // These encodings are FISTTP, which only processors with SSE3 have.
    if (reg == 1 && (escape == 3 || escape == 5 || escape == 7)) out->flags |= kRefused;
    return;
  }
  out->cls = kFpuReg[escape][reg];
  if (out->cls == C::Unknown) out->cls = fpu_single(out->opcode, out->modrm);
  if (out->cls == C::Fcmov || out->cls == C::Fcomi) out->flags |= kNotOnPentium;
  if (out->opcode == 0xDF && out->modrm == 0xE0) {
    out->writes |= kEax;
    out->agi_writes |= kEax;
  }
}

}  // namespace p5
