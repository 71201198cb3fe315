// SPDX-License-Identifier: MIT
// The transcendental functions of the x87 in integer arithmetic: the same bits on every host.
//
// The relative error of each result is below 2^-100, before the caller rounds it to the 64 bits of
// a register. A rounded result is therefore within 0.5001 units of the last place (1.0001 with the
// other rounding controls). A Pentium is within 1 unit (Intel, Pentium Processor Family Developer's
// Manual, volume 3, 1995, appendix G). Which of the two neighbours a Pentium delivers is not
// published. tests/engine/transcendental_test.cc compares the functions with MPFR.
#pragma once

#include <cstdint>

namespace x87 {

__extension__ using Wide = unsigned __int128;

// A number other than zero: significand * 2^(exponent - 127), and the top bit of the significand is
// set. The lowest bit of an irrational result is set, so that its rounding is inexact.
struct Real {
  bool negative;
  int exponent;
  Wide significand;
};

// From the 64 bits of a register's significand, not all zero. `exponent` is that of the top bit.
Real real(bool negative, int exponent, uint64_t significand);

// 2^x - 1, for |x| < 1.
Real exp2_minus_1(const Real& x);

// log2(x) * y, for x > 0 other than 1. The result is exact if x is a power of 2.
Real log2_times(const Real& x, const Real& y);

// log2(1 + x) * y, for x > -1.
Real log2_plus_1_times(const Real& x, const Real& y);

// The angle of the point (x, y), from -pi to pi.
Real arctangent(const Real& y, const Real& x);

// For |x| < 2^63. As in the chip, pi has 66 bits in the reduction of the argument (Intel, Software
// Developer's Manual, volume 1, 8.3.8: 0.C90FDAA22168C234C * 2^2).
Real sine(const Real& x);
Real cosine(const Real& x);
Real tangent(const Real& x);

}  // namespace x87
