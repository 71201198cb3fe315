// SPDX-License-Identifier: MIT
#include "p5/opcodes.hh"

namespace p5::opcodes {
namespace {

constexpr void arithmetic(GroupTable& g) {
  for (int alu = 0; alu < 8; alu++) {
    const bool carry = alu == 2 || alu == 3, compare = alu == 7;
    const ClassId rr = compare ? C::CmpRR : carry ? C::AdcRR : C::AluRR;
    const ClassId mr = compare ? C::CmpMem : carry ? C::AdcMR : C::AluMR;
    const uint32_t bits = compare ? kRmR : kRmRw;
    g[kAluRm8Imm8][alu] = op2(rr, mr, bits | kRm8 | kImm8);
    g[kAluRmImmZ][alu] = op2(rr, mr, bits | kImmZ);
    g[kAluRmImm8][alu] = op2(rr, mr, bits | kImm8);
  }
}

constexpr void shifts(GroupTable& g) {
  // ROL ROR RCL RCR SHL SHR SAL SAR by an immediate, by 1, by CL.
  for (int shift = 0; shift < 8; shift++) {
    const bool rotate = shift < 2, carry = shift == 2 || shift == 3;
    const Op imm = rotate  ? op2(C::RotateRegImm, C::RotateMemImm, kRmRw | kImm8)
                   : carry ? op2(C::RclRegImm, C::RclMemImm, kRmRw | kImm8)
                           : op2(C::ShiftReg, C::ShiftMem, kRmRw | kImm8);
    const Op by1 = rotate  ? op2(C::RotateReg1, C::RotateMem1, kRmRw)
                   : carry ? op2(C::RclReg1, C::RclMem1, kRmRw)
                           : op2(C::ShiftReg, C::ShiftMem, kRmRw);
    const Op cl = rotate  ? op2(C::RotateRegCl, C::RotateMemCl, kRmRw, kEcx)
                  : carry ? op2(C::RclRegCl, C::RclMemCl, kRmRw, kEcx)
                          : op2(C::ShiftRegCl, C::ShiftMemCl, kRmRw, kEcx);
    g[kShiftRm8Imm][shift] = g[kShiftRmImm][shift] = imm;
    g[kShiftRm8By1][shift] = g[kShiftRmBy1][shift] = by1;
    g[kShiftRm8ByCl][shift] = g[kShiftRmByCl][shift] = cl;
    g[kShiftRm8Imm][shift].bits |= kRm8;
    g[kShiftRm8By1][shift].bits |= kRm8;
    g[kShiftRm8ByCl][shift].bits |= kRm8;
  }
}

constexpr void moves(GroupTable& g) {
  for (auto& o : g[kPopRm]) o = op(C::Unknown, kModRm);
  g[kPopRm][0] = op2(C::PopReg, C::PopMem, kRmW | kPushPop);
  for (auto& o : g[kMovImm8]) o = op(C::Unknown, kModRm | kImm8);
  for (auto& o : g[kMovImmZ]) o = op(C::Unknown, kModRm | kImmZ);
  g[kMovImm8][0] = op2(C::MovRR, C::MovStoreImm, kRmW | kRm8 | kImm8);
  g[kMovImmZ][0] = op2(C::MovRR, C::MovStoreImm, kRmW | kImmZ);
}

constexpr void unary(GroupTable& g) {
  // TEST TEST NOT NEG MUL IMUL DIV IDIV.
  for (const bool byte : {true, false}) {
    auto& t = g[byte ? kTest8 : kTestZ];
    const uint32_t width = byte ? kRm8 : 0u;
    t[0] = t[1] = op2(C::TestImm, C::TestMemImm, kRmR | width | (byte ? kImm8 : kImmZ));
    t[2] = t[3] = op2(C::NegReg, C::NegMem, kRmRw | width);
    const uint32_t bits = kRmR | (byte ? kRm8 : kSized);
    const RegMask result = byte ? kEax : kEax | kEdx;
    t[4] = t[5] = op2(byte ? C::Mul8 : C::Mul16, byte ? C::Mul8 : C::Mul16, bits, kEax, result);
    t[6] = op2(byte ? C::Div8 : C::Div16, byte ? C::Div8 : C::Div16, bits, result, result);
    t[7] = op2(byte ? C::Idiv8 : C::Idiv16, byte ? C::Idiv8 : C::Idiv16, bits, result, result);
  }
  for (auto& o : g[kIncDec8]) o = op(C::Unknown, kModRm);
  g[kIncDec8][0] = g[kIncDec8][1] = op2(C::IncReg, C::IncMem, kRmRw | kRm8);
  auto& ff = g[kIncDecZ];
  ff[0] = ff[1] = op2(C::IncReg, C::IncMem, kRmRw);
  ff[2] = op2(C::CallInd, C::CallInd, kRmR | kPushPop, 0, 0, kBranch);
  ff[3] = mem_only(C::CallFarMem, kPushPop, kFar);
  ff[4] = op2(C::JmpInd, C::JmpInd, kRmR, 0, 0, kBranch);
  ff[5] = mem_only(C::JmpFarMem, 0, kFar);
  ff[6] = op2(C::PushReg, C::PushMem, kRmR | kPushPop);
  ff[7] = op(C::Unknown, kModRm);
}

constexpr void special_registers(GroupTable& g) {
  for (int sreg = 0; sreg < 8; sreg++) {
    const bool exists = sreg < 6, ss = sreg == 2, cs = sreg == 1;
    g[kMovFromSregs][sreg] = op(exists ? C::MovFromSreg : C::Unknown, kModRm | kRmW);
    g[kMovToSregs][sreg] = !exists || cs
                               ? op(C::Unknown, kModRm)
                               : loads_segment(op2(ss ? C::MovSs : C::MovSreg,
                                                   ss ? C::MovSsMem : C::MovSregMem, kRmR));
  }
  for (auto& o : g[kMovToCrs]) o = op(C::Unknown, kModRm | kNoMemory);
  constexpr uint32_t kToCr = kModRm | kNoMemory | kRmR;
  g[kMovToCrs][0] = op(C::MovToCr0, kToCr, 0, 0, kSystem | kSerializing);
  g[kMovToCrs][2] = op(C::MovToCr2, kToCr, 0, 0, kSystem | kSerializing);
  g[kMovToCrs][3] = op(C::MovToCr3, kToCr, 0, 0, kSystem | kSerializing);
  g[kMovToCrs][4] = op(C::MovToCr4, kToCr, 0, 0, kSystem | kSerializing);
}

constexpr void system(GroupTable& g) {
  auto& local = g[kLocalTables];
  local[0] = op(C::Sldt, kModRm | kRmW, 0, 0, kSystem);
  local[1] = op(C::Str, kModRm | kRmW, 0, 0, kSystem);
  local[2] = loads_segment(op(C::Lldt, kModRm | kRmR, 0, 0, kSystem | kSerializing));
  local[3] = loads_segment(op(C::Ltr, kModRm | kRmR, 0, 0, kSystem | kSerializing));
  local[4] = local[5] = op(C::Verr, kModRm | kRmR);
  local[6] = local[7] = op(C::Unknown, kModRm);

  auto& global = g[kGlobalTables];
  global[0] = global[1] = mem_only(C::Sgdt, 0, kSystem);
  global[2] = global[3] = loads_segment(mem_only(C::Lgdt, 0, kSystem | kSerializing));
  global[4] = op(C::Smsw, kModRm | kRmW, 0, 0, kSystem);
  global[5] = op(C::Unknown, kModRm);
  global[6] = op(C::Lmsw, kModRm | kRmR, 0, 0, kSystem);
  global[7] = mem_only(C::Invlpg, kNoAccess, kSystem | kSerializing);

  for (auto& o : g[kBitImm]) o = op(C::Unknown, kModRm | kImm8);
  g[kBitImm][4] = op2(C::BtReg, C::BtMemImm, kRmR | kImm8);
  for (int i = 5; i < 8; i++) g[kBitImm][i] = op2(C::BtsReg, C::BtsMemImm, kRmRw | kImm8);

  for (auto& o : g[kWideExchange]) o = op(C::Unknown, kModRm);
  g[kWideExchange][1] = op2(C::Unknown, C::Cmpxchg8b, 0, kEax | kEbx | kEcx | kEdx, kEax | kEdx);
}

constexpr GroupTable group_tables() {
  GroupTable g{};
  arithmetic(g);
  shifts(g);
  moves(g);
  unary(g);
  special_registers(g);
  system(g);
  return g;
}

}  // namespace

constexpr GroupTable kGroupOps = group_tables();

}  // namespace p5::opcodes
