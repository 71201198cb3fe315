// SPDX-License-Identifier: MIT
// Which steps of decoding are in separate files? Each step completes a record that already contains
// the opcode, the length, the operands and the flags.
#pragma once

#include "p5/decode.hh"

namespace p5 {

// Sets the class of a floating-point instruction (D8 to DF). Also sets the flags and the registers
// that depend on the exact operation.
void decode_fpu(DecodedInsn* out);

// The prefix that selects the form of an SSE instruction: 66, F2 or F3.
enum class SimdPrefix : uint8_t { None, Operand, Double, Single };

// Returns the class of an instruction 0F `opcode` that the Pentium does not have, or
// Class::Unknown.
ClassId long_class(uint8_t opcode, uint8_t modrm, SimdPrefix prefix);

// Sets the pairing of an instruction. `listed` is the pairing that the timing table contains for
// the instruction's class. `implicit` is true for PUSH, POP, CALL and similar instructions, which
// update ESP implicitly. The instruction after them can use the new ESP without a wait.
void decode_pairing(Pairing listed, bool implicit, DecodedInsn* insn);

}  // namespace p5
