// SPDX-License-Identifier: MIT
#include "p5/opcodes.hh"

namespace p5::opcodes {
namespace {

constexpr void arithmetic(Map& m) {
  // ADD OR ADC SBB AND SUB XOR CMP, in six forms each.
  for (int alu = 0; alu < 8; alu++) {
    const bool carry = alu == 2 || alu == 3, compare = alu == 7;
    const ClassId rr = compare ? C::CmpRR : carry ? C::AdcRR : C::AluRR;
    const ClassId rm = compare ? C::CmpMem : carry ? C::AdcRM : C::AluRM;
    const ClassId mr = compare ? C::CmpMem : carry ? C::AdcMR : C::AluMR;
    const uint32_t to_rm = kRegR | (compare ? kRmR : kRmRw);
    const uint32_t to_reg = kRmR | (compare ? kRegR : kRegRw);
    const RegMask result = compare ? 0 : kEax;
    Op* row = &m[8 * alu];
    row[0] = op2(rr, mr, to_rm | kRm8 | kReg8);
    row[1] = op2(rr, mr, to_rm);
    row[2] = op2(rr, rm, to_reg | kRm8 | kReg8);
    row[3] = op2(rr, rm, to_reg);
    row[4] = op(rr, kImm8, kEax, result);
    row[5] = op(rr, kImmZ, kEax, result);
  }
}

// The other opcodes up to 7F, and the opcodes above 7F with a register in their low three bits.
constexpr void up_to_7f(Map& m) {
  for (int sreg = 0; sreg < 4; sreg++) {
    m[0x06 + 8 * sreg] = op(C::PushSreg, kPushPop);
    if (sreg == 1) continue;  // 0F: the chip has no POP CS
    m[0x07 + 8 * sreg] = loads_segment(op(sreg == 2 ? C::PopSs : C::PopSreg, kPushPop));
  }
  m[0x27] = m[0x2F] = m[0x37] = m[0x3F] = op(C::Aaa, 0, kEax, kEax);
  for (int reg = 0; reg < 8; reg++) {
    m[0x40 + reg] = m[0x48 + reg] = op(C::IncReg, kOpR | kOpW);
    m[0x50 + reg] = op(C::PushReg, kOpR | kPushPop);
    m[0x58 + reg] = op(C::PopReg, kOpW | kPushPop);
    m[0x90 + reg] = op(C::XchgAcc, kOpR | kOpW, kEax, kEax);
    m[0xB0 + reg] = op(C::MovRR, kOpW | kOp8 | kImm8);
    m[0xB8 + reg] = op(C::MovRR, kOpW | kImmZ);
    m[0xD8 + reg] = op(C::Unknown, kModRm, 0, 0, kFpu);  // class: decode_fpu()
  }
  m[0x60] = op(C::Pusha, kPushPop, 0xFF);
  m[0x61] = op(C::Popa, kPushPop, 0, RegMask(~kEsp));
  m[0x62] = mem_only(C::Bound, kRegR);
  m[0x63] = op2(C::Arpl, C::Arpl, kRmRw | kRegR);
  m[0x68] = op(C::PushImm, kImmZ | kPushPop);
  m[0x69] = op2(C::ImulRR, C::ImulRM, kRmR | kRegW | kImmZ);
  m[0x6A] = op(C::PushImm, kImm8 | kPushPop);
  m[0x6B] = op2(C::ImulRR, C::ImulRM, kRmR | kRegW | kImm8);
  m[0x6C] = m[0x6D] = string_op(C::Ins, C::RepIns, kEdi, kEdx, 0, kIo);
  m[0x6E] = m[0x6F] = string_op(C::Outs, C::RepOuts, kEsi, kEdx, 0, kIo);
  for (int cc = 0; cc < 16; cc++) m[0x70 + cc] = op(C::Jcc, kRel8, 0, 0, kBranch | kConditional);
}

constexpr void from_80_to_bf(Map& m) {
  m[0x80] = m[0x82] = group(kAluRm8Imm8);
  m[0x81] = group(kAluRmImmZ);
  m[0x83] = group(kAluRmImm8);
  m[0x84] = op2(C::TestRR, C::TestMem, kRmR | kRegR | kRm8 | kReg8);
  m[0x85] = op2(C::TestRR, C::TestMem, kRmR | kRegR);
  m[0x86] = op2(C::XchgRR, C::XchgMem, kRmRw | kRegRw | kRm8 | kReg8);
  m[0x87] = op2(C::XchgRR, C::XchgMem, kRmRw | kRegRw);
  m[0x88] = op2(C::MovRR, C::MovStore, kRmW | kRegR | kRm8 | kReg8);
  m[0x89] = op2(C::MovRR, C::MovStore, kRmW | kRegR);
  m[0x8A] = op2(C::MovRR, C::MovLoad, kRmR | kRegW | kRm8 | kReg8);
  m[0x8B] = op2(C::MovRR, C::MovLoad, kRmR | kRegW);
  m[0x8C] = group(kMovFromSregs);
  m[0x8D] = mem_only(C::Lea, kRegW | kNoAccess);
  m[0x8E] = group(kMovToSregs);
  m[0x8F] = group(kPopRm);
  m[0x90] = op(C::Nop);
  m[0x98] = op(C::Cbw, 0, kEax, kEax);
  m[0x99] = op(C::Cwd, 0, kEax, kEdx);
  m[0x9A] = op(C::CallFar, kFarPtr | kPushPop, 0, 0, kFar);
  m[0x9B] = op(C::Wait);
  m[0x9C] = op(C::Pushf, kPushPop);
  m[0x9D] = op(C::Popf, kPushPop);
  m[0x9E] = op(C::Lahf, 0, kEax);
  m[0x9F] = op(C::Lahf, 0, 0, kEax);
  m[0xA0] = m[0xA1] = op(C::MovAccLoad, kMoffs, 0, kEax);
  m[0xA2] = m[0xA3] = op(C::MovAccStore, kMoffs, kEax, kEax);
  m[0xA4] = m[0xA5] = string_op(C::Movs, C::RepMovs, kEsi | kEdi);
  m[0xA6] = m[0xA7] = string_op(C::Cmps, C::RepCmps, kEsi | kEdi);
  m[0xA8] = op(C::TestAccImm, kImm8, kEax);
  m[0xA9] = op(C::TestAccImm, kImmZ, kEax);
  m[0xAA] = m[0xAB] = string_op(C::Stos, C::RepStos, kEdi, kEax);
  m[0xAC] = m[0xAD] = string_op(C::Lods, C::RepLods, kEsi, 0, kEax);
  m[0xAE] = m[0xAF] = string_op(C::Scas, C::RepScas, kEdi, kEax);
}

constexpr void from_c0(Map& m) {
  m[0xC0] = group(kShiftRm8Imm);
  m[0xC1] = group(kShiftRmImm);
  // A return with a pop count writes ESP explicitly. The next instruction that needs ESP for an
  // address must wait [AGN-MA].
  m[0xC2] = op(C::RetImm, kImm16 | kPushPop, 0, kEsp, kBranch);
  m[0xC3] = op(C::Ret, kPushPop, 0, 0, kBranch);
  m[0xC4] = m[0xC5] = loads_segment(mem_only(C::Lds, kRegW));
  m[0xC6] = group(kMovImm8);
  m[0xC7] = group(kMovImmZ);
  m[0xC8] = op(C::EnterN, kImm16 | kImm8 | kPushPop, kEbp, kEbp | kEsp);
  m[0xC9] = op(C::Leave, 0, 0, kEsp | kEbp, kStack);
  m[0xC9].address = kEbp;  // ESP := EBP, then a pop
  m[0xCA] = op(C::RetFarImm, kImm16 | kPushPop, 0, kEsp, kFar);
  m[0xCB] = op(C::RetFar, kPushPop, 0, 0, kFar);
  m[0xCC] = m[0xF1] = op(C::Int3, kPushPop, 0, 0, kFar);
  m[0xCD] = op(C::IntN, kImm8 | kPushPop, 0, 0, kFar);
  m[0xCE] = op(C::Into, kPushPop, 0, 0, kFar);
  m[0xCF] = op(C::Iret, kSized | kPushPop, 0, 0, kFar | kSerializing);
  m[0xD0] = group(kShiftRm8By1);
  m[0xD1] = group(kShiftRmBy1);
  m[0xD2] = group(kShiftRm8ByCl);
  m[0xD3] = group(kShiftRmByCl);
  m[0xD4] = op(C::Aam, kImm8, kEax, kEax);
  m[0xD5] = op(C::Aad, kImm8, kEax, kEax);
  m[0xD6] = op(C::Salc, 0, 0, kEax);
  m[0xD7] = op(C::Xlat, 0, 0, kEax);
  m[0xD7].address = kEbx | kEax;
  m[0xE0] = m[0xE1] = op(C::Loopcc, kRel8, kEcx, kEcx, kBranch | kConditional);
  m[0xE2] = op(C::Loop, kRel8, kEcx, kEcx, kBranch | kConditional);
  m[0xE3] = op(C::Jcxz, kRel8, kEcx, 0, kBranch | kConditional);
  m[0xE4] = m[0xE5] = op(C::In, kImm8, 0, kEax, kIo);
  m[0xE6] = m[0xE7] = op(C::Out, kImm8, kEax, 0, kIo);
  m[0xE8] = op(C::Call, kRelZ | kPushPop, 0, 0, kBranch);
  m[0xE9] = op(C::Jmp, kRelZ, 0, 0, kBranch);
  m[0xEA] = op(C::JmpFar, kFarPtr, 0, 0, kFar);
  m[0xEB] = op(C::Jmp, kRel8, 0, 0, kBranch);
  m[0xEC] = m[0xED] = op(C::In, 0, kEdx, kEax, kIo);
  m[0xEE] = m[0xEF] = op(C::Out, 0, kEdx | kEax, 0, kIo);
  m[0xF4] = op(C::Hlt, 0, 0, 0, kSystem);
  m[0xF5] = m[0xF8] = m[0xF9] = m[0xFC] = m[0xFD] = op(C::SetFlag);
  m[0xF6] = group(kTest8);
  m[0xF7] = group(kTestZ);
  m[0xFA] = m[0xFB] = op(C::Cli);
  m[0xFE] = group(kIncDec8);
  m[0xFF] = group(kIncDecZ);
}

constexpr Map one_byte_map() {
  Map m{};
  arithmetic(m);
  up_to_7f(m);
  from_80_to_bf(m);
  from_c0(m);
  return m;
}

// 64-bit code [AMD64 vol. 3, B]: some opcodes do not exist, and opcode 63 has another meaning.
constexpr Map one_byte_map_64() {
  Map m = one_byte_map();
  for (const int gone : {0x06, 0x07, 0x0E, 0x16, 0x17, 0x1E, 0x1F, 0x27, 0x2F, 0x37, 0x3F, 0x60,
                         0x61, 0x62, 0x82, 0x9A, 0xC4, 0xC5, 0xCE, 0xD4, 0xD5, 0xD6, 0xEA}) {
    m[gone] = Op();
  }
  m[0x63] = op2(C::MovExtend, C::MovExtend, kRmR | kRegW);  // MOVSXD
  return m;
}

}  // namespace

constexpr Map kOneByte = one_byte_map();
constexpr Map kOneByte64 = one_byte_map_64();

}  // namespace p5::opcodes
