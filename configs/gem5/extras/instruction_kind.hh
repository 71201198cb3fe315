// SPDX-License-Identifier: MIT
// For each opcode: the event that the instruction increments in addition to `instructions`. This
// file does not use gem5, so that a test (tests/engine/instruction_kind_test.cc) can compare this
// file with the engine's decoder.
#pragma once

#include <cstdint>

namespace gem5::p5lab {

enum class Kind : uint8_t {
  Plain,
  Marker,       // gem5's own instructions, which are not counted
  Branch,       // near, taken or not
  Serializing,  // counts as a branch, like VERR [INTEL-DM 16, events 12h and 14h]
  SegmentLoad,
  TableLoad,    // LLDT, LTR, LGDT, LIDT: also serialising
  Cr3Load,      // also serialising
  Int,          // transfers of control that load a code segment
  Gate,
  Far,
  Iret,
};

inline Kind one_byte_kind(uint8_t opcode, uint8_t modrm) {
  switch (opcode) {
    // LOOPcc, LOOP, JCXZ, CALL, JMP, RET
    case 0xE0: case 0xE1: case 0xE2: case 0xE3: case 0xE8: case 0xE9: case 0xEB:
    case 0xC2: case 0xC3: return Kind::Branch;
    // POP ES, POP SS, POP DS, MOV to Sreg, LES, LDS
    case 0x07: case 0x17: case 0x1F: case 0x8E: case 0xC4: case 0xC5: return Kind::SegmentLoad;
    case 0x9A: case 0xEA: return Kind::Gate;  // far CALL, JMP
    case 0xCA: case 0xCB: return Kind::Far;
    case 0xCC: case 0xCD: case 0xCE: case 0xF1: return Kind::Int;
    case 0xCF: return Kind::Iret;
    case 0xFF:
      switch (modrm >> 3 & 7) {
        case 2: case 4: return Kind::Branch;
        case 3: case 5: return Kind::Gate;
        default: return Kind::Plain;
      }
    default: return opcode >> 4 == 7 ? Kind::Branch : Kind::Plain;  // Jcc
  }
}

// Opcodes after 0F. `extended`: a REX prefix selects one of the upper eight registers.
inline Kind two_byte_kind(uint8_t opcode, uint8_t modrm, bool extended) {
  const unsigned reg = modrm >> 3 & 7;
  switch (opcode) {
    case 0x00:
      if (reg == 2 || reg == 3) return Kind::TableLoad;               // LLDT, LTR
      return reg == 4 || reg == 5 ? Kind::Serializing : Kind::Plain;  // VERR, VERW
    case 0x01:
      if (modrm >= 0xC0) return Kind::Plain;             // SWAPGS, RDTSCP ...
      if (reg == 2 || reg == 3) return Kind::TableLoad;  // LGDT, LIDT
      return reg == 7 ? Kind::Serializing : Kind::Plain;  // INVLPG
    case 0x04: return Kind::Marker;
    case 0x05: case 0x34: return Kind::Gate;  // SYSCALL, SYSENTER
    case 0x07: case 0x35: return Kind::Iret;  // SYSRET, SYSEXIT
    case 0x22: return reg == 3 && !extended ? Kind::Cr3Load : Kind::Serializing;
    // INVD, WBINVD, MOV to DR, WRMSR, CPUID, RSM
    case 0x08: case 0x09: case 0x23: case 0x30: case 0xA2: case 0xAA: return Kind::Serializing;
    // POP FS, POP GS, LSS, LFS, LGS
    case 0xA1: case 0xA9: case 0xB2: case 0xB4: case 0xB5: return Kind::SegmentLoad;
    default: return opcode >> 4 == 8 ? Kind::Branch : Kind::Plain;  // Jcc
  }
}

}  // namespace gem5::p5lab
