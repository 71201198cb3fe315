// SPDX-License-Identifier: MIT
// From raw instruction bytes to the model's record.
#pragma once

#include <cstdint>

#include "insn.hh"
#include "timing.hh"

namespace p5 {

// Longest instruction; a longer one faults [INTEL-DM].
constexpr unsigned kMaxInsnBytes = 15;

// Decodes the instruction at `bytes`; `available` bytes may be read. `code32` is the D bit of
// the code segment; `timing` gives the pairing of each class. Returns false when the instruction
// does not end within the bytes (or within 15); *out is then undefined. An encoding that the chip
// refuses still gets its length; its class is Class::Unknown when there is none to give.
bool decode(const uint8_t* bytes, unsigned available, bool code32, const TimingTable& timing,
            Insn* out);

// The same in 64-bit code. Of the record only length, class, flags and segment loads mean
// something; nothing is refused.
bool decode64(const uint8_t* bytes, unsigned available, const TimingTable& timing, Insn* out);

}  // namespace p5
