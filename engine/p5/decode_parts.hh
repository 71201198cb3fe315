// SPDX-License-Identifier: MIT
// The steps of decoding that have files of their own. All work on a record whose opcode, length,
// operands and flags are known.
#pragma once

#include "insn.hh"

namespace p5 {

// The class, and what else differs, of a floating-point instruction (D8 to DF).
void decode_fpu(Insn* out);

// How the instruction pairs. `listed`: as the timing table has its class. `implicit`: PUSH, POP,
// CALL and the like, whose new ESP the next instruction has without waiting a clock.
void decode_pairing(Pairing listed, bool implicit, Insn* insn);

}  // namespace p5
