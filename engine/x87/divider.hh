// SPDX-License-Identifier: MIT
// The divider of a Pentium with the flaw of 1994: SRT division of radix 4.
#pragma once

#include <cstdint>

namespace x87 {

// Whether the processors with this CPUID signature have the flaw (Intel, Pentium Processor
// Specification Update, erratum 23): steppings B1 and C1 of the 60 and 66 MHz processors, and B1
// and B3 of the 75, 90 and 100 MHz processors.
bool divider_is_flawed(uint32_t signature);

struct Quotient {
  uint64_t significand;  // with its top bit set
  uint64_t rest;         // the bits below it; the lowest is set if the division is inexact
  bool below_1;          // the quotient is in [1/2, 1), otherwise in [1, 2)
};

// a / b, for significands with their top bits set. `flawed`: with the five missing entries of the
// table; otherwise the quotient is right.
Quotient divide(uint64_t a, uint64_t b, bool flawed);

}  // namespace x87
