// SPDX-License-Identifier: MIT
// Opcode tables and their interpretation. Encodings follow the opcode maps of INTEL-DM; the
// tables hold one entry per opcode, or one per ModRM.reg value where that selects the operation.
#include "decode.hh"

#include <array>

#include "classes.hh"
#include "rules.hh"

namespace p5 {
namespace {

using C = Class;

enum Reg : RegMask {
  kEax = 1 << 0,
  kEcx = 1 << 1,
  kEdx = 1 << 2,
  kEbx = 1 << 3,
  kEsp = 1 << 4,
  kEbp = 1 << 5,
  kEsi = 1 << 6,
  kEdi = 1 << 7,
};

// What follows the opcode and which general registers the operands are.
enum OpBit : uint32_t {
  kModRm = 1 << 0,
  kImm8 = 1 << 1,
  kImm16 = 1 << 2,
  kImmZ = 1 << 3,  // 2 or 4 bytes by operand size
  kRel8 = 1 << 4,
  kRelZ = 1 << 5,
  kMoffs = 1 << 6,   // address of 2 or 4 bytes by address size
  kFarPtr = 1 << 7,  // 2 + 2 or 4 bytes by operand size
  kRmR = 1 << 8,     // ModRM.rm, when a register, is read / written
  kRmW = 1 << 9,
  kRegR = 1 << 10,  // ModRM.reg is read / written
  kRegW = 1 << 11,
  kOpR = 1 << 12,  // the register in the opcode's low three bits is read / written
  kOpW = 1 << 13,
  kRm8 = 1 << 14,  // the register operand is a byte: 4-7 are AH CH DH BH
  kReg8 = 1 << 15,
  kOp8 = 1 << 16,
  kPushPop = 1 << 17,   // addresses through and updates ESP implicitly
  kNoAccess = 1 << 18,  // the memory operand is only an address (LEA, INVLPG, NOP)
  kNoMemory = 1 << 19,  // ModRM.mod is ignored: rm is a register (MOV CRn/DRn)
  kSized = 1 << 20,     // with a 32-bit operand the class is the next one
  kThird = 1 << 21,     // another opcode byte precedes ModRM (0F 38, 0F 3A)
};

constexpr uint32_t kRmRw = kRmR | kRmW;
constexpr uint32_t kRegRw = kRegR | kRegW;
constexpr uint16_t kRefused = kNotOnPentium | kNotOnPentiumCmov;
constexpr uint8_t kRexW = 8;  // of a REX prefix: operands of 64 bits

// Groups: opcodes whose operation ModRM.reg selects.
enum GroupId : uint8_t {
  kNoGroup,
  kAluRm8Imm8,
  kAluRmImmZ,
  kAluRmImm8,
  kShiftRm8Imm,
  kShiftRmImm,
  kShiftRm8By1,
  kShiftRmBy1,
  kShiftRm8ByCl,
  kShiftRmByCl,
  kPopRm,
  kMovImm8,
  kMovImmZ,
  kTest8,
  kTestZ,
  kIncDec8,
  kIncDecZ,
  kMovFromSregs,
  kMovToSregs,
  kMovToCrs,
  kLocalTables,
  kGlobalTables,
  kBitImm,
  kWideExchange,
  kGroups
};

struct Op {
  ClassId reg = C::Unknown;  // class without a memory operand
  ClassId mem = C::Unknown;  // class with one
  ClassId rep = C::Unknown;  // string instructions: class with a REP prefix
  uint16_t flags = 0;        // InsnFlag
  uint32_t bits = 0;         // OpBit
  RegMask reads = 0;         // implicit registers
  RegMask writes = 0;        // implicit, except what kPushPop does to ESP
  RegMask address = 0;       // implicit, except the ESP of kPushPop
  uint8_t segments = 0;      // segment or system-table registers loaded
  GroupId group = kNoGroup;
};

constexpr Op op(ClassId cls, uint32_t bits = 0, RegMask reads = 0, RegMask writes = 0,
                uint16_t flags = 0) {
  Op o;
  o.reg = o.mem = cls;
  o.bits = bits;
  o.reads = reads;
  o.writes = writes;
  o.flags = flags;
  return o;
}

constexpr Op op2(ClassId reg, ClassId mem, uint32_t bits, RegMask reads = 0, RegMask writes = 0,
                 uint16_t flags = 0) {
  Op o = op(reg, bits | kModRm, reads, writes, flags);
  o.mem = mem;
  return o;
}

constexpr Op mem_only(ClassId mem, uint32_t bits, uint16_t flags = 0) {
  return op2(C::Unknown, mem, bits, 0, 0, flags);
}

constexpr Op loads_segment(Op o) {
  o.segments = 1;
  return o;
}

constexpr Op group(GroupId id) {
  Op o;
  o.bits = kModRm;
  o.group = id;
  return o;
}

constexpr Op string_op(ClassId once, ClassId rep, RegMask pointers, RegMask reads = 0,
                       RegMask writes = 0, uint16_t flags = 0) {
  Op o = op(once, 0, reads, pointers | writes, flags);
  o.rep = rep;
  o.address = pointers;
  return o;
}

// Encodings of later processors: only their length matters, and that they are refused.
constexpr Op refused(uint32_t bits = kModRm) { return op(C::Unknown, bits, 0, 0, kRefused); }

using Map = std::array<Op, 256>;
using GroupTable = std::array<std::array<Op, 8>, kGroups>;

constexpr Map one_byte_map() {
  Map m{};

  // ADD OR ADC SBB AND SUB XOR CMP in six forms each.
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
  for (int sreg = 0; sreg < 4; sreg++) {
    m[0x06 + 8 * sreg] = op(C::PushSreg, kPushPop);
    if (sreg == 1) continue;  // 0F: no POP CS
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
    m[0xD8 + reg] = op(C::Unknown, kModRm, 0, 0, kFpu);  // class: fpu_class()
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
  m[0xC0] = group(kShiftRm8Imm);
  m[0xC1] = group(kShiftRmImm);
  // A pop count makes the ESP update one that the next address must wait for [AGN-MA].
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
  return m;
}

constexpr Map two_byte_map() {
  Map m{};
  m[0x00] = group(kLocalTables);
  m[0x01] = group(kGlobalTables);
  m[0x02] = m[0x03] = op2(C::Lar, C::Lar, kRmR | kRegW);
  m[0x05] = m[0x07] = refused(0);  // SYSCALL, SYSRET
  m[0x06] = op(C::Clts, 0, 0, 0, kSystem);
  m[0x08] = op(C::Invd, 0, 0, 0, kSystem | kSerializing);
  m[0x09] = op(C::Wbinvd, 0, 0, 0, kSystem | kSerializing);
  m[0x0E] = refused(0);               // FEMMS
  m[0x0F] = refused(kModRm | kImm8);  // 3DNow!
  for (int i = 0x10; i < 0x18; i++) m[i] = refused();
  // Hint NOPs: from the P6 on the whole range runs, whatever its later meaning (prefetch, CET).
  m[0x0D] = op(C::NopLong, kModRm | kNoAccess, 0, 0, kNotOnPentium);
  for (int i = 0x18; i < 0x20; i++) m[i] = m[0x0D];
  m[0x20] = op(C::MovFromCr, kModRm | kNoMemory | kRmW, 0, 0, kSystem);
  m[0x21] = op(C::MovFromDr, kModRm | kNoMemory | kRmW, 0, 0, kSystem);
  m[0x22] = group(kMovToCrs);
  m[0x23] = op(C::MovToDr, kModRm | kNoMemory | kRmR, 0, 0, kSystem | kSerializing);
  m[0x24] = m[0x26] = op(C::Unknown, kModRm | kNoMemory);  // MOV TRn: 386 and 486 only
  for (int i = 0x28; i < 0x30; i++) m[i] = refused();
  m[0x30] = op(C::Wrmsr, 0, kEax | kEcx | kEdx, 0, kSystem | kSerializing);
  m[0x31] = op(C::Rdtsc, 0, 0, kEax | kEdx, kSystem);
  m[0x32] = op(C::Rdmsr, 0, kEcx, kEax | kEdx, kSystem);
  m[0x33] = m[0x34] = m[0x35] = m[0x37] = refused(0);  // RDPMC, SYSENTER, SYSEXIT, GETSEC
  m[0x38] = refused(kThird | kModRm);
  m[0x3A] = refused(kThird | kModRm | kImm8);
  for (int cc = 0; cc < 16; cc++) {
    m[0x40 + cc] = op2(C::CmovRR, C::CmovRM, kRmR | kRegRw, 0, 0, kNotOnPentium);
    m[0x80 + cc] = op(C::Jcc, kRelZ, 0, 0, kBranch | kConditional);
    m[0x90 + cc] = op2(C::SetccReg, C::SetccMem, kRmW | kRm8);
  }
  for (int i = 0x50; i < 0x80; i++) m[i] = refused(i >= 0x70 && i < 0x74 ? kModRm | kImm8 : kModRm);
  m[0x77] = refused(0);  // EMMS
  m[0xA0] = m[0xA8] = op(C::PushSreg, kPushPop);
  m[0xA1] = m[0xA9] = loads_segment(op(C::PopSreg, kPushPop));
  m[0xA2] = op(C::Cpuid, 0, kEax | kEcx, kEax | kEcx | kEdx | kEbx, kSystem | kSerializing);
  m[0xA3] = op2(C::BtReg, C::BtMemReg, kRmR | kRegR);
  m[0xA4] = m[0xAC] = op2(C::ShldReg, C::ShldMem, kRmRw | kRegR | kImm8);
  m[0xA5] = m[0xAD] = op2(C::ShldReg, C::ShldMem, kRmRw | kRegR, kEcx);
  m[0xAA] = op(C::Rsm, 0, 0, 0xFF, kSystem | kSerializing);
  m[0xAB] = m[0xB3] = m[0xBB] = op2(C::BtsReg, C::BtsMemReg, kRmRw | kRegR);
  m[0xAE] = refused();            // FXSAVE, fences
  m[0xA6] = m[0xA7] = refused();  // VIA PadLock
  m[0xAF] = op2(C::ImulRR, C::ImulRM, kRmR | kRegRw);
  m[0xB0] = op2(C::CmpxchgReg, C::CmpxchgMem, kRmRw | kRegR | kRm8 | kReg8, kEax, kEax);
  m[0xB1] = op2(C::CmpxchgReg, C::CmpxchgMem, kRmRw | kRegR, kEax, kEax);
  m[0xB2] = loads_segment(mem_only(C::Lss, kRegW));
  m[0xB4] = m[0xB5] = loads_segment(mem_only(C::Lds, kRegW));
  m[0xB6] = m[0xBE] = op2(C::MovExtend, C::MovExtend, kRmR | kRegW | kRm8);
  m[0xB7] = m[0xBF] = op2(C::MovExtend, C::MovExtend, kRmR | kRegW);
  m[0xB8] = refused();               // POPCNT
  m[0xB9] = op(C::Unknown, kModRm);  // UD1
  m[0xBA] = group(kBitImm);
  m[0xBC] = op2(C::BsfReg16, C::BsfMem16, kRmR | kRegW | kSized);
  m[0xBD] = op2(C::BsrReg16, C::BsrMem16, kRmR | kRegW | kSized);
  m[0xC0] = op2(C::XaddReg, C::XaddMem, kRmRw | kRegRw | kRm8 | kReg8);
  m[0xC1] = op2(C::XaddReg, C::XaddMem, kRmRw | kRegRw);
  for (int i = 0xC2; i < 0xC7; i++) m[i] = refused(i == 0xC3 ? kModRm : kModRm | kImm8);
  m[0xC7] = group(kWideExchange);
  for (int reg = 0; reg < 8; reg++) m[0xC8 + reg] = op(C::Bswap, kOpR | kOpW);
  for (int i = 0xD0; i < 0xFF; i++) m[i] = refused();
  m[0xFF] = op(C::Unknown, kModRm);  // UD0
  return m;
}

constexpr GroupTable group_tables() {
  GroupTable g{};
  for (int alu = 0; alu < 8; alu++) {
    const bool carry = alu == 2 || alu == 3, compare = alu == 7;
    const ClassId rr = compare ? C::CmpRR : carry ? C::AdcRR : C::AluRR;
    const ClassId mr = compare ? C::CmpMem : carry ? C::AdcMR : C::AluMR;
    const uint32_t bits = compare ? kRmR : kRmRw;
    g[kAluRm8Imm8][alu] = op2(rr, mr, bits | kRm8 | kImm8);
    g[kAluRmImmZ][alu] = op2(rr, mr, bits | kImmZ);
    g[kAluRmImm8][alu] = op2(rr, mr, bits | kImm8);
  }
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
  for (auto& o : g[kPopRm]) o = op(C::Unknown, kModRm);
  g[kPopRm][0] = op2(C::PopReg, C::PopMem, kRmW | kPushPop);
  for (auto& o : g[kMovImm8]) o = op(C::Unknown, kModRm | kImm8);
  for (auto& o : g[kMovImmZ]) o = op(C::Unknown, kModRm | kImmZ);
  g[kMovImm8][0] = op2(C::MovRR, C::MovStoreImm, kRmW | kRm8 | kImm8);
  g[kMovImmZ][0] = op2(C::MovRR, C::MovStoreImm, kRmW | kImmZ);

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
  return g;
}

// 64-bit code [AMD64 vol. 3, B]: what there is no longer, and what took its place.
constexpr Map one_byte_map_64() {
  Map m = one_byte_map();
  for (const int gone : {0x06, 0x07, 0x0E, 0x16, 0x17, 0x1E, 0x1F, 0x27, 0x2F, 0x37, 0x3F, 0x60,
                         0x61, 0x62, 0x82, 0x9A, 0xC4, 0xC5, 0xCE, 0xD4, 0xD5, 0xD6, 0xEA}) {
    m[gone] = Op();
  }
  m[0x63] = op2(C::MovExtend, C::MovExtend, kRmR | kRegW);  // MOVSXD
  return m;
}

constexpr Map two_byte_map_64() {
  Map m = two_byte_map();
  m[0x24] = m[0x26] = Op();
  // SYSCALL, SYSRET, SYSENTER, SYSEXIT.
  m[0x05] = m[0x07] = m[0x34] = m[0x35] = op(C::Unknown, 0, 0, 0, kFar);
  return m;
}

constexpr Map kOneByte = one_byte_map();
constexpr Map kTwoByte = two_byte_map();
constexpr Map kOneByte64 = one_byte_map_64();
constexpr Map kTwoByte64 = two_byte_map_64();
constexpr GroupTable kGroupOps = group_tables();

// --- x87 ------------------------------------------------------------------------------------

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

// Register forms that take all eight rm values; DC-DF include the undocumented aliases. The
// others (Unknown here) are in fpu_single().
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

// D9 E0 - D9 FF: one operation each.
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

void decode_fpu(Insn* out) {
  const unsigned escape = out->opcode & 7, reg = out->modrm >> 3 & 7;
  if (out->modrm < 0xC0) {
    out->cls = kFpuMem[escape][reg];
    // FISTTP came with SSE3.
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

// --- bytes ----------------------------------------------------------------------------------

RegMask register_bit(unsigned number, bool byte) {
  if (byte && !rule(Rule::PairWholeRegister)) return number < 4 ? RegMask(1u << number) : 0;
  return RegMask(1u << (byte ? number & 3 : number & 7));
}

// Registers of the address and bytes of displacement of one ModRM memory operand.
struct Address {
  RegMask registers = 0;
  unsigned sib = 0;  // bytes
  unsigned displacement = 0;
};

Address address16(uint8_t modrm) {
  static constexpr RegMask kRegisters[8] = {kEbx | kEsi, kEbx | kEdi, kEbp | kEsi, kEbp | kEdi,
                                            kEsi,        kEdi,        kEbp,        kEbx};
  const unsigned mod = modrm >> 6, rm = modrm & 7;
  if (mod == 0 && rm == 6) return {0, 0, 2};
  return {kRegisters[rm], 0, mod};
}

Address address32(uint8_t modrm, uint8_t sib) {
  static constexpr unsigned kDisplacement[3] = {0, 1, 4};
  const unsigned mod = modrm >> 6, rm = modrm & 7;
  Address a;
  a.displacement = kDisplacement[mod];
  unsigned base = rm;
  if (rm == 4) {
    a.sib = 1;
    base = sib & 7;
    const unsigned index = sib >> 3 & 7;
    if (index != 4) a.registers |= 1u << index;
  }
  if (mod == 0 && base == 5) {
    a.displacement = 4;
  } else {
    a.registers |= 1u << base;
  }
  return a;
}

// A prefixed instruction pairs only in U; one with both a displacement and an immediate not at
// all [INTEL-OPT]. So nothing that goes into V is longer than the 7 bytes that it may have there
// [INTEL-OPT 3.9].
Pairing restrict_pairing(Pairing pairing, const Insn& insn) {
  if (rule(Rule::PairDispImm) && (insn.flags & kDisp) && (insn.flags & kImm)) return Pairing::NP;
  if (rule(Rule::PairPrefix) && insn.prefixes > 0) {
    if (pairing == Pairing::UV) return Pairing::PU;
    if (pairing == Pairing::PV) return Pairing::NP;
  }
  return pairing;
}

// `implicit`: PUSH, POP, CALL and the like, which ESP's new value needs no clock to reach.
void set_pairing_masks(Insn* insn, bool implicit) {
  const bool pops = insn->cls == C::PopReg;
  implicit = implicit && rule(Rule::PairStack);
  insn->as_u = kAlways | kNotFx | (implicit ? insn->agi_writes : insn->writes);
  if (implicit) insn->as_u |= pops ? kPopsEsp : kPushesEsp;
  if (insn->length > 1 || !rule(Rule::PairColdByte)) insn->as_u |= kLong;
  if (insn->pairing == Pairing::FX) {
    insn->as_u = kAlways | (rule(Rule::PairFxAlone) ? kFx : 0);
    if (!rule(Rule::PairFxch)) insn->as_u |= kNotFx;
  }
  if (rule(Rule::PairFirst) && (insn->pairing == Pairing::NP || insn->pairing == Pairing::PV)) {
    insn->as_u = kNothingJoins;
  }

  // Behind a POP only a POP can use ESP, behind a PUSH only a PUSH or CALL; everything waits for an
  // explicit write.
  RegMask uses = 0;
  if (rule(Rule::PairReadAfterWrite)) uses |= insn->reads | insn->address;
  if (rule(Rule::PairWriteAfterWrite)) uses |= insn->writes;
  insn->as_v = kNever | kFx | uses;
  if (uses & kEsp && rule(Rule::PairPushPop)) {
    if (!implicit || !pops) insn->as_v |= kPopsEsp;
    if (!implicit || pops) insn->as_v |= kPushesEsp;
  }
  const bool in_v = insn->pairing == Pairing::UV || insn->pairing == Pairing::PV;
  if (rule(Rule::PairSecond) && !in_v) insn->as_v |= kAlways;
  if (insn->cls == C::Fxch) insn->as_v = kNever | kNotFx;
}

enum class Code { Bits16, Bits32, Bits64 };

bool decode_as(Code code, const uint8_t* bytes, unsigned available, const TimingTable& timing,
               Insn* out) {
  if (available > kMaxInsnBytes) available = kMaxInsnBytes;
  const bool code64 = code == Code::Bits64, wide = code != Code::Bits16;
  Insn insn;
  bool operand32 = wide, addr32 = wide, rep = false;
  uint8_t rex = 0;  // counts right before the opcode only
  unsigned at = 0;

  for (; at < available; at++) {
    const uint8_t byte = bytes[at];
    if (code64 && (byte & 0xF0) == 0x40) {
      rex = byte;
      insn.prefixes++;
      continue;
    }
    if (byte == 0x66)
      operand32 = !wide;
    else if (byte == 0x67)
      addr32 = !wide;
    else if (byte == 0xF0)
      insn.flags |= kLocked;
    else if (byte == 0xF2 || byte == 0xF3)
      rep = true;
    else if ((byte & 0xE7) != 0x26 && byte != 0x64 && byte != 0x65)
      break;
    insn.prefixes++;
    rex = 0;
  }
  const bool operand64 = rex & kRexW;
  operand32 |= operand64;
  if (at >= available) return false;
  insn.opcode = bytes[at++];
  const Op* op = code64 ? &kOneByte64[insn.opcode] : &kOneByte[insn.opcode];
  if (insn.opcode == 0x0F) {
    if (at >= available) return false;
    insn.opcode = bytes[at++];
    insn.map = 1;
    op = code64 ? &kTwoByte64[insn.opcode] : &kTwoByte[insn.opcode];
    // The 0F byte costs a decode clock except in the near Jcc [INTEL-OPT].
    if ((insn.opcode & 0xF0) != 0x80 || !rule(Rule::PrefixNearJcc)) insn.prefixes++;
  }
  if (op->bits & kThird) {
    if (at >= available) return false;
    insn.opcode = bytes[at++];
  }

  Address address;
  bool memory = false;
  if (op->bits & kModRm) {
    if (at >= available) return false;
    insn.modrm = bytes[at++];
    insn.has_modrm = 1;
    if (op->group != kNoGroup) op = &kGroupOps[op->group][insn.modrm >> 3 & 7];
    memory = insn.modrm < 0xC0 && !(op->bits & kNoMemory);
    if (memory) {
      if (addr32 || code64) {
        if ((insn.modrm & 7) == 4 && at >= available) return false;
        address = address32(insn.modrm, (insn.modrm & 7) == 4 ? bytes[at] : 0);
      } else {
        address = address16(insn.modrm);
      }
      at += address.sib + address.displacement;
    }
  }
  const uint32_t bits = op->bits;
  if (bits & kMoffs) {
    address.displacement = code64 && addr32 ? 8 : addr32 || code64 ? 4 : 2;
    at += address.displacement;
    memory = true;
  }
  const unsigned z = operand32 ? 4 : 2;
  unsigned immediate = 0;
  if (bits & kImm8) immediate += 1;
  if (bits & kImm16) immediate += 2;
  if (bits & kImmZ) immediate += z;
  const bool long_immediate = operand64 && insn.map == 0 && (insn.opcode & 0xF8) == 0xB8;
  if (long_immediate) immediate = 8;
  if (bits & kFarPtr) immediate += 2 + z;
  at += immediate;
  if (bits & kRel8) at += 1;
  if (bits & kRelZ)
    at += code64 ? 4 : z;  // whatever the prefixes say, as Intel's processors have it
  if (at > available) return false;
  insn.length = uint8_t(at);

  insn.flags |= op->flags;
  insn.cls = memory ? op->mem : op->reg;
  if (rep && op->rep != Class::Unknown) {
    insn.cls = op->rep;
    insn.flags |= kRep;
    insn.reads |= kEcx;
    insn.writes |= kEcx;
  }
  if ((bits & kSized) && operand32) insn.cls++;
  if (insn.map == 0) {
    // ENTER's time depends on its nesting level, the last byte (modulo 32).
    if (insn.opcode == 0xC8) {
      insn.modrm = bytes[at - 1] & 31;
      insn.cls = insn.modrm == 0 ? Class::Enter0 : insn.modrm == 1 ? Class::Enter1 : Class::EnterN;
    }
    // With a register operand these became the prefixes of AVX and AVX-512; C6 F8 and C7 F8 are
    // XABORT and XBEGIN.
    if (!memory && (insn.opcode == 0x62 || insn.opcode == 0xC4 || insn.opcode == 0xC5 ||
                    ((insn.opcode == 0xC6 || insn.opcode == 0xC7) && insn.modrm == 0xF8))) {
      insn.flags |= kRefused;
    }
    if (memory && (insn.opcode == 0x86 || insn.opcode == 0x87)) insn.flags |= kLocked;
  } else if (insn.cls == Class::Unknown) {
    // Later processors filled the gaps of 0F 01 (MONITOR, RDTSCP ..) and 0F C7 (RDRAND, VMX ..).
    const unsigned reg = insn.modrm >> 3 & 7;
    if (insn.opcode == 0x01 || (insn.opcode == 0xC7 && reg >= 3)) insn.flags |= kRefused;
  }

  insn.segment_loads = op->segments;
  insn.reads |= op->reads;
  insn.writes |= op->writes;
  insn.address = op->address | address.registers;
  if (bits & (kRmR | kRmW) && !memory) {
    const RegMask rm = register_bit(insn.modrm & 7, bits & kRm8);
    if (bits & kRmR) insn.reads |= rm;
    if (bits & kRmW) insn.writes |= rm;
  }
  if (bits & (kRegR | kRegW)) {
    const RegMask reg = register_bit(insn.modrm >> 3 & 7, bits & kReg8);
    if (bits & kRegR) insn.reads |= reg;
    if (bits & kRegW) insn.writes |= reg;
  }
  if (bits & (kOpR | kOpW)) {
    const RegMask reg = register_bit(insn.opcode & 7, bits & kOp8);
    if (bits & kOpR) insn.reads |= reg;
    if (bits & kOpW) insn.writes |= reg;
  }
  // A store of the accumulator by address writes it for the rules of pairing only [AGN-IT].
  if (bits & kMoffs && insn.reads && !rule(Rule::PairAccumulator)) insn.writes = 0;
  insn.agi_writes = insn.writes;
  if (bits & kMoffs && rule(Rule::AgiAccumulator)) insn.agi_writes &= ~insn.reads;
  if (bits & kPushPop) {
    insn.flags |= kStack;
    insn.address |= kEsp;
    insn.writes |= kEsp;
    // An implicit update delays no address [AGN-MA].
    if (!rule(Rule::AgiImplicitStack)) insn.agi_writes |= kEsp;
  }

  if (address.displacement > 0) insn.flags |= kDisp;
  if (immediate > 0) insn.flags |= kImm;
  if (memory && !(bits & kNoAccess)) insn.flags |= kMemory;
  if (insn.flags & kFpu) decode_fpu(&insn);
  if (code64) {
    // Which instructions there are the emulator knows; sixteen registers have no bits, nor need
    // any: nothing pairs.
    insn.flags &= uint16_t(~kRefused);
    insn.reads = insn.writes = insn.address = insn.agi_writes = 0;
  }
  if ((insn.flags & (kRep | kFar | kIo | kSystem | kFpu)) || insn.segment_loads > 0 ||
      insn.cls == Class::Unknown || insn.cls == Class::EnterN || insn.cls == Class::Verr ||
      multiplies(insn.cls)) {
    insn.flags |= kUncommon;
  }
  insn.pairing = code64 ? Pairing::NP : restrict_pairing(timing.pairing(insn.cls), insn);
  set_pairing_masks(&insn, bits & kPushPop);
  *out = insn;
  return true;
}

}  // namespace

bool decode(const uint8_t* bytes, unsigned available, bool code32, const TimingTable& timing,
            Insn* out) {
  return decode_as(code32 ? Code::Bits32 : Code::Bits16, bytes, available, timing, out);
}

bool decode64(const uint8_t* bytes, unsigned available, const TimingTable& timing, Insn* out) {
  return decode_as(Code::Bits64, bytes, available, timing, out);
}

}  // namespace p5
