// SPDX-License-Identifier: MIT
// What the decoder knows of each opcode. There is one entry for an opcode, or one for each value of
// ModRM.reg where that selects the operation. Encodings follow the opcode maps of INTEL-DM.
#pragma once

#include <array>
#include <cstdint>

#include "classes.hh"
#include "insn.hh"

namespace p5::opcodes {

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

// The maps of one-byte and two-byte (0F) opcodes, for code of 16 and 32 bits and for that of 64.
extern const Map kOneByte, kTwoByte, kOneByte64, kTwoByte64;
extern const GroupTable kGroupOps;

}  // namespace p5::opcodes
