// SPDX-License-Identifier: MIT
// How does the model decode the bytes of an instruction? The result is a record (insn.hh).
#pragma once

#include <cstdint>

#include "p5/insn.hh"
#include "p5/timing.hh"

namespace p5 {

// The length of the longest instruction. A longer instruction faults [INTEL-DM].
constexpr unsigned kMaxInsnBytes = 15;

// The record, and the values that only the decoder needs. Bochs has no room for them.
struct DecodedInsn : Insn {
  RegMask reads = 0;   // general registers read as data
  RegMask writes = 0;  // general registers written
  Pairing pairing = Pairing::NP;
};

// Decodes the instruction at `bytes`. The function may read `available` bytes. `code32` is the D
// bit of the code segment. `timing` gives the pairing of each class. Returns false if the
// instruction does not end within these bytes or within 15 bytes. `*out` is then undefined. The
// length is also correct for an encoding that the chip refuses. If no class exists for the
// encoding, the class is Class::Unknown.
bool decode(const uint8_t* bytes, unsigned available, bool code32, const TimingTable& timing,
            Insn* out);
// The same, with the registers.
bool decode_registers(const uint8_t* bytes, unsigned available, bool code32,
                      const TimingTable& timing, DecodedInsn* out);

// Changes the record so that the instruction pairs with any other simple instruction (the key
// ideal.pairing). Instructions with the flag kUncommon are not simple and do not change.
void pair_always(Insn* insn);

// Decodes an instruction of 64-bit code. No encoding is refused. In a model of a Pentium the
// registers and the pairing are not valid, because its masks have no bits for R8 to R15.
bool decode64(const uint8_t* bytes, unsigned available, const TimingTable& timing, Insn* out);

}  // namespace p5
