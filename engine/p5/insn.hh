// SPDX-License-Identifier: MIT
// What does the model know about an instruction? decode() builds this record from the bytes of the
// instruction (decode.hh). The record does not depend on Bochs, so a trace can also supply it.
#pragma once

#include <cstdint>
#include <type_traits>

#include "isa.hh"

namespace p5 {

// A timing class is the number of a row of timing.csv. An instruction without a row gets
// Class::Unknown (0), and the model reports it.
using ClassId = uint16_t;

// General registers as bits: EAX=0 ECX EDX EBX ESP EBP ESI EDI=7, and R8 to R15. AL, AH, AX and RAX
// have the bit of EAX.
using RegMask = std::conditional_t<kX86_64, uint16_t, uint8_t>;
// General registers and PairBits.
using PairMask = std::conditional_t<kX86_64, uint32_t, uint16_t>;

// How an instruction may pair (INTEL-OPT ch. 3; AGN-IT).
enum class Pairing : uint8_t { NP, UV, PU, PV, FX };

// Properties of an instruction that its number of clocks does not describe.
enum InsnFlag : uint16_t {
  kRep = 1 << 0,            // REP/REPE/REPNE string instruction (counted once)
  kStack = 1 << 1,          // addresses memory through an implicit ESP
  kSerializing = 1 << 2,    // INTEL-DM: MOV CRn/DRn, INVD, INVLPG, IRET, LGDT, LLDT, LIDT, ...
  kLocked = 1 << 3,         // LOCK prefix or XCHG with memory
  kBranch = 1 << 4,         // near control transfer (Jcc, JMP, CALL, RET, LOOP, JCXZ)
  kConditional = 1 << 5,    // a branch that may fall through
  kFar = 1 << 6,            // far JMP/CALL/RET, INT n, INTO, INT3, IRET
  kIo = 1 << 7,             // IN, OUT, INS, OUTS
  kSystem = 1 << 8,         // RDTSC, RDMSR, WRMSR, CPUID, HLT, MOV CR/DR, LMSW, CLTS, INVLPG, ...
  kDisp = 1 << 9,           // has an address displacement
  kImm = 1 << 10,           // has an immediate operand
  kMemory = 1 << 11,        // has a ModRM (or moffs) memory operand that is accessed
  kUncommon = 1 << 12,      // kRep, kFar, kIo, kSystem, kFpu, kNotOnPentium, segment_loads, ENTER
                            // with levels, a multiplication, VERR or VERW, or an unknown class.
                            // decode() sets this bit.
  kFpu = 1 << 13,           // D8-DF
  kNotOnPentium = 1 << 14,  // a P54C raises #UD (CMOV, MMX, SSE, RDPMC, 0F 1F...)
  kNotOnPentiumCmov = 1 << 15,  // ISA level pentium+cmov raises #UD too
};

// The pairing rules as masks [INTEL-OPT ch. 3, AGN-MA 3.2]. Instruction B can go into V, beside
// instruction A in U, if B's `as_v` and A's `as_u` have no common bit. The low bits of `as_u`
// (a RegMask) contain the general registers that A writes. The low bits of `as_v` contain the
// general registers that B reads, writes or uses in an address. Implicit changes of ESP have
// separate bits, because two PUSHes pair, two POPs pair, and a PUSH pairs with a CALL.
enum PairBit : PairMask {
  kAlways = 1 << kRegisters,       // set in every as_u; in as_v: this instruction cannot enter V
  kNever = 1 << (kRegisters + 1),  // set in every as_v; in as_u: no instruction can join this one
  kPushesEsp = 1 << (kRegisters + 2),
  kPopsEsp = 1 << (kRegisters + 3),
  kLong = 1 << (kRegisters + 4),   // in as_u: longer than one byte; this matters in new code
  kFx = 1 << (kRegisters + 5),     // in as_u: Pairing::FX, only FXCH can join; in as_v: not FXCH
  kNotFx = 1 << (kRegisters + 6),  // in as_u: not Pairing::FX; in as_v: FXCH
};
constexpr PairMask kNothingJoins = PairMask(~PairMask(0));

constexpr uint8_t kNoReach = 0xFF;  // more than the bytes of any fetched code

// Bochs stores this record, 24 bytes, in its own instruction object.
struct alignas(8) Insn {
  ClassId cls = 0;                                               // row of timing.csv
  uint16_t flags = 0;                                            // InsnFlag bits
  PairMask as_u = kNothingJoins, as_v = kAlways | kNever | kFx;  // PairBit and registers
  uint8_t length = 0;  // bytes, with prefixes; 0: no instruction
  // Prefix bytes that cost one clock each: 66 67 F0 F2 F3, segment, and 0F except in a near Jcc.
  // Not REX. An instruction without an equivalent on the Pentium has none (kFirstLong, classes.hh).
  uint8_t prefixes = 0;
  RegMask address = 0;        // registers used in an address (base, index, implicit ESP)
  RegMask agi_writes = 0;     // registers written, except an implicit ESP: these can cause an AGI
  uint8_t segment_loads = 0;  // loads of segment and system-table registers by MOV, POP, LxS,
                              // LLDT, LTR, LGDT and LIDT; without far transfers
  uint8_t opcode = 0;         // last opcode byte
  uint8_t map = 0;            // 0: one-byte map, 1: 0F map
  uint8_t modrm = 0;          // ModRM byte if there is one; the nesting level of ENTER
  // For an instruction that may take the model's fast path, its length and its clocks. All other
  // instructions (kUncommon, kLocked, other clocks in another mode) have kNoReach. The fast path
  // tests only that the reach lies within the fetched code.
  uint8_t reach = kNoReach;
  uint8_t clocks = 0;
};

// Whether ISA level pentium+cmov executes the instruction, and a Pentium does not.
inline bool is_newer(const Insn& insn) {
  return (insn.flags & (kNotOnPentium | kNotOnPentiumCmov)) == kNotOnPentium;
}

}  // namespace p5
