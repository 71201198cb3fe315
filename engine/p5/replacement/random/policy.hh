// SPDX-License-Identifier: MIT
// Which way does the random policy replace?
#pragma once

#include <cstdint>

#include "p5/replacement/policy.hh"

namespace p5 {

// Replaces the way that a 16-bit Galois LFSR selects (taps B400h, seed ACE1h). The LFSR steps once
// for each replacement, so equal runs choose equal victims.
class Random : public Policy {
 public:
  Random(uint32_t /*sets*/, uint32_t ways) : ways_(ways) {}

  uint32_t victim(uint32_t /*set*/) {
    const bool low = lfsr_ & 1;
    lfsr_ >>= 1;
    if (low) lfsr_ ^= 0xB400;
    return lfsr_ % ways_;
  }

 private:
  uint32_t ways_;
  uint16_t lfsr_ = 0xACE1;
};

}  // namespace p5
