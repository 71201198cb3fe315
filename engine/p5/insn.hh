// SPDX-License-Identifier: MIT
// The model's own decoded-instruction record. It is built once per decode from the raw
// instruction bytes (decode.hh) and knows no simulator, so a trace file can feed the model as
// well as an emulator can.
#pragma once

#include <cstdint>

namespace p5 {

// Timing classes: one per row of timing.csv. The enumeration order is the row index.
// Class::Unknown (0) is what an instruction without a row gets; it is reported, never silent.
using ClassId = uint16_t;

// General registers as bits: EAX=0 ECX EDX EBX ESP EBP ESI EDI=7; parts count as the whole.
using RegMask = uint8_t;

// How an instruction may pair (INTEL-OPT ch. 3; AGN-IT).
enum class Pairing : uint8_t { NP, UV, PU, PV, FX };

// What the model must do beside counting clocks: the slow path tests these bits as one word.
enum InsnFlag : uint16_t {
  kRep = 1 << 0,          // REP/REPE/REPNE string instruction (counted once)
  kStack = 1 << 1,        // addresses memory through an implicit ESP
  kSerializing = 1 << 2,  // INTEL-DM: MOV CRn/DRn, INVD, INVLPG, IRET, LGDT, LLDT, LIDT, ...
  kLocked = 1 << 3,       // LOCK prefix or XCHG with memory
  kBranch = 1 << 4,       // near control transfer (Jcc, JMP, CALL, RET, LOOP, JCXZ)
  kConditional = 1 << 5,  // ... that may fall through
  kFar = 1 << 6,          // far JMP/CALL/RET, INT n, INTO, INT3, IRET
  kIo = 1 << 7,           // IN, OUT, INS, OUTS
  kSystem = 1 << 8,       // RDTSC, RDMSR, WRMSR, CPUID, HLT, MOV CR/DR, LMSW, CLTS, INVLPG, ...
  kDisp = 1 << 9,         // has an address displacement
  kImm = 1 << 10,         // has an immediate operand
  kMemory = 1 << 11,      // has a ModRM (or moffs) memory operand that is accessed
  kUncommon = 1 << 12,  // any of kRep, kFar, kIo, kSystem, kFpu, segment_loads, ENTER with levels,
                        // a multiplication, VERR or VERW, an unknown class: the one bit that the
                        // model's fast path tests (set by decode())
  kFpu = 1 << 13,       // D8-DF
  kNotOnPentium = 1 << 14,  // encodings a P54C refuses with #UD (CMOV, MMX, SSE, RDPMC, 0F 1F..)
  kNotOnPentiumCmov = 1 << 15,  // ... refused at ISA level pentium+cmov as well
};

// The pairing rules as masks [INTEL-OPT ch. 3, AGN-MA 3.2]: an instruction joins the one before it
// in the V pipe if no bit of its `as_v` is set in that one's `as_u`. The low byte is general
// registers: those written in `as_u`, those read, written or used in an address in `as_v`. An
// implicit change of ESP has bits of its own, because PUSH, PUSH and POP, POP and PUSH, CALL pair.
enum PairBit : uint16_t {
  kAlways = 1 << 8,  // set in every as_u; in as_v: may not go into V
  kNever = 1 << 9,   // set in every as_v; in as_u: nothing can join it
  kPushesEsp = 1 << 10,
  kPopsEsp = 1 << 11,
  kLong = 1 << 12,   // in as_u: more than one byte, which counts in cold code
  kFx = 1 << 13,     // in as_u: FX, which only FXCH joins; in as_v: no FXCH
  kNotFx = 1 << 14,  // in as_u: not FX; in as_v: FXCH
};
constexpr uint16_t kNothingJoins = 0xFFFF;

// An emulator embeds it in its own instruction object: 24 bytes.
struct alignas(8) Insn {
  ClassId cls = 0;                                               // row of timing.csv
  uint16_t flags = 0;                                            // InsnFlag bits
  uint16_t as_u = kNothingJoins, as_v = kAlways | kNever | kFx;  // PairBit and registers
  uint8_t length = 0;  // bytes, prefixes included; 0 marks "no instruction"
  uint8_t prefixes =
      0;  // prefix bytes that cost a clock each (66 67 F0 F2 F3 seg, 0F except near Jcc)
  RegMask reads = 0;          // general registers read as data
  RegMask writes = 0;         // general registers written
  RegMask address = 0;        // registers used in address generation (base, index, implicit ESP)
  RegMask agi_writes = 0;     // of `writes`, those that can cause an AGI (no implicit ESP updates)
  uint8_t segment_loads = 0;  // segment and system-table registers this instruction itself loads
                              // (MOV/POP Sreg, LxS, LLDT/LTR/LGDT/LIDT; not far transfers)
  Pairing pairing = Pairing::NP;
  uint8_t opcode = 0;  // last opcode byte
  uint8_t map = 0;     // 0: one-byte map, 1: 0F map
  uint8_t modrm = 0;   // ModRM byte when present; ENTER's nesting level
  uint8_t has_modrm = 0;
};

}  // namespace p5
