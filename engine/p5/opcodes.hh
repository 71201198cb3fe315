// SPDX-License-Identifier: MIT
// Which properties of each opcode does the decoder need? An opcode has one entry. If ModRM.reg
// selects the operation, the opcode has one entry for each value of ModRM.reg. Encodings follow the
// opcode maps of INTEL-DM.
#pragma once

#include <array>
#include <cstdint>

#include "p5/classes.hh"
#include "p5/insn.hh"

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

// The bytes after the opcode, and the general registers that are operands.
enum OpBit : uint32_t {
  kModRm = 1 << 0,
  kImm8 = 1 << 1,
  kImm16 = 1 << 2,
  kImmZ = 1 << 3,  // 2 or 4 bytes by operand size
  kRel8 = 1 << 4,
  kRelZ = 1 << 5,
  kMoffs = 1 << 6,   // address of 2 or 4 bytes by address size
  kFarPtr = 1 << 7,  // selector of 2 bytes, and offset of 2 or 4 bytes by operand size
  kRmR = 1 << 8,     // reads / writes ModRM.rm, if it is a register
  kRmW = 1 << 9,
  kRegR = 1 << 10,  // reads / writes the register ModRM.reg
  kRegW = 1 << 11,
  kOpR = 1 << 12,  // reads / writes the register in the opcode's low three bits
  kOpW = 1 << 13,
  kRm8 = 1 << 14,  // the register operand is a byte: 4-7 are AH CH DH BH
  kReg8 = 1 << 15,
  kOp8 = 1 << 16,
  kPushPop = 1 << 17,   // uses ESP implicitly as an address and updates it
  kNoAccess = 1 << 18,  // the memory operand is only an address (LEA, INVLPG, NOP)
  kNoMemory = 1 << 19,  // ModRM.mod is ignored: rm is a register (MOV CRn/DRn)
  kSized = 1 << 20,     // a 32-bit operand selects the next class
  kThird = 1 << 21,     // another opcode byte precedes ModRM (0F 38, 0F 3A)
};

constexpr uint32_t kRmRw = kRmR | kRmW;
constexpr uint32_t kRegRw = kRegR | kRegW;
constexpr uint16_t kRefused = kNotOnPentium | kNotOnPentiumCmov;
// Groups of opcodes. ModRM.reg selects the operation in a group.
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
  ClassId reg = C::Unknown;  // class without memory operand
  ClassId mem = C::Unknown;  // class with memory operand
  ClassId rep = C::Unknown;  // string instructions: class with a REP prefix
  uint16_t flags = 0;        // InsnFlag
  uint32_t bits = 0;         // OpBit
  RegMask reads = 0;         // registers read implicitly
  RegMask writes = 0;        // written implicitly, without the ESP of kPushPop
  RegMask address = 0;       // used implicitly as address, without the ESP of kPushPop
  uint8_t segments = 0;      // number of segment or system-table registers loaded
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

// An encoding of later processors. The model refuses this encoding, so only the length of the
// instruction matters.
constexpr Op refused(uint32_t bits = kModRm) { return op(C::Unknown, bits, 0, 0, kRefused); }

using Map = std::array<Op, 256>;
using GroupTable = std::array<std::array<Op, 8>, kGroups>;

// The maps of one-byte opcodes and two-byte opcodes (0F). 64-bit code has separate maps.
extern const Map kOneByte, kTwoByte, kOneByte64, kTwoByte64;
extern const GroupTable kGroupOps;

}  // namespace p5::opcodes
