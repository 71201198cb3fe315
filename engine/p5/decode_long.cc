// SPDX-License-Identifier: MIT
// Which timing class has an instruction of 64-bit code that no Pentium has? The opcodes follow the
// map 0F in [AMD64 vol. 3, A]. The clocks of the classes are estimates (the last rows of
// timing.csv).
#include "p5/classes.hh"
#include "p5/decode_parts.hh"

namespace p5 {
namespace {

using C = Class;

// An instruction with the prefix F2 or F3 processes one element, all others process whole
// registers.
bool is_scalar(SimdPrefix prefix) {
  return prefix == SimdPrefix::Double || prefix == SimdPrefix::Single;
}

// The class of arithmetic on `prefix`: one, two or four elements.
ClassId by_elements(SimdPrefix prefix, ClassId one, ClassId two, ClassId four) {
  if (is_scalar(prefix)) return one;
  return prefix == SimdPrefix::Operand ? two : four;
}

// 0F 50 to 0F 5F: arithmetic on floating-point elements.
ClassId arithmetic(uint8_t opcode, SimdPrefix prefix) {
  switch (opcode) {
    case 0x50:  // MOVMSKPS
    case 0x54:
    case 0x55:
    case 0x56:
    case 0x57:
      return C::SimdLogic128;  // AND, ANDN, OR, XOR
    case 0x51:
      return by_elements(prefix, C::SimdRoot1, C::SimdRoot2, C::SimdRoot4);
    case 0x5A:
    case 0x5B:
      return C::SimdConvert;
    case 0x52:  // RSQRT, RCP: a table and a multiplication
    case 0x53:
    case 0x59:
      return by_elements(prefix, C::SimdMul1, C::SimdMul2, C::SimdMul4);
    case 0x5E:
      if (prefix == SimdPrefix::None) return C::SimdDivSingle4;
      if (prefix == SimdPrefix::Single) return C::SimdDivSingle1;
      return prefix == SimdPrefix::Double ? C::SimdDivDouble1 : C::SimdDivDouble2;
    default:
      return by_elements(prefix, C::SimdAdd1, C::SimdAdd2, C::SimdAdd4);  // ADD SUB MIN MAX
  }
}

// 0F 60 to 0F 7F and 0F D0 to 0F FE: integers in MMX registers, with the prefix 66 in XMM
// registers.
ClassId integers(uint8_t opcode, SimdPrefix prefix) {
  const bool mmx = prefix == SimdPrefix::None;
  switch (opcode) {
    case 0x6E:
    case 0x7E:  // MOVD, MOVQ
    case 0xD6:  // MOVQ, MOVQ2DQ, MOVDQ2Q
      return C::SimdMove64;
    case 0x6F:
    case 0x7F:
    case 0xE7:  // MOVNTQ, MOVNTDQ
    case 0xF7:  // MASKMOVQ, MASKMOVDQU
      return mmx ? C::SimdMove64 : C::SimdMove128;
    case 0x77:
      return C::Emms;
    case 0xD5:  // products of integers
    case 0xE4:
    case 0xE5:
    case 0xF4:
    case 0xF5:
    case 0xF6:
      return mmx ? C::SimdProduct64 : C::SimdProduct128;
    case 0xE6:
      return C::SimdConvert;
    case 0x78:
    case 0x79:
    case 0x7A:
    case 0x7B:
    case 0x7C:
    case 0x7D:
    case 0xD0:
    case 0xF0:
    case 0xFF:
      return C::Unknown;  // SSE3, SSE4a and UD0: the emulated processor does not have them
    default:
      return mmx ? C::SimdLogic64 : C::SimdLogic128;
  }
}

// 0F AE: the state of x87 and SSE, and fences.
ClassId state_or_fence(uint8_t modrm) {
  static constexpr ClassId kMemory[8] = {C::Fxsave,  C::Fxrstor, C::Ldmxcsr, C::Stmxcsr,
                                         C::Unknown, C::Unknown, C::Unknown, C::Clflush};
  const unsigned reg = modrm >> 3 & 7;
  if (modrm < 0xC0) return kMemory[reg];
  return reg >= 5 ? C::Fence : C::Unknown;
}

}  // namespace

ClassId long_class(uint8_t opcode, uint8_t modrm, SimdPrefix prefix) {
  if (opcode >= 0x50 && opcode < 0x60) return arithmetic(opcode, prefix);
  if ((opcode >= 0x60 && opcode < 0x80) || opcode >= 0xD0) return integers(opcode, prefix);
  switch (opcode) {
    case 0x01:
      return modrm == 0xF8 ? C::Swapgs : C::Unknown;
    case 0x05:
      return C::Syscall;
    case 0x07:
      return C::Sysret;
    case 0x0E:
      return C::Emms;  // FEMMS
    case 0x0F:
      return C::SimdAdd2;  // 3DNow!
    case 0x10:
    case 0x11:
    case 0x28:
    case 0x29:
    case 0x2B:
      return is_scalar(prefix) ? C::SimdMove64 : C::SimdMove128;
    case 0x12:
    case 0x13:
    case 0x16:
    case 0x17:  // half a register; with F2 or F3, they belong to SSE3
      return is_scalar(prefix) ? C::Unknown : C::SimdMove64;
    case 0xC3:
      return C::SimdMove64;  // MOVNTI
    case 0x14:
    case 0x15:
    case 0xC6:  // UNPCK, SHUF
      return C::SimdLogic128;
    case 0x2A:
    case 0x2C:
    case 0x2D:
      return C::SimdConvert;
    case 0x2E:
    case 0x2F:
      return C::SimdAdd1;  // UCOMIS, COMIS
    case 0xAE:
      if (prefix != SimdPrefix::None) return C::Unknown;
      return state_or_fence(modrm);
    case 0xC2:
      return by_elements(prefix, C::SimdAdd1, C::SimdAdd2, C::SimdAdd4);
    case 0xC4:
    case 0xC5:
      return C::SimdLogic64;  // PINSRW, PEXTRW
    default:
      return C::Unknown;
  }
}

}  // namespace p5
