// SPDX-License-Identifier: LGPL-2.1-or-later
// The transcendental functions of the x87, with the names of Bochs. They replace the files of Bochs
// that patch 0016 leaves out. Each function unpacks its operands, answers for the special ones as
// the tables of the manual do (Intel, Software Developer's Manual, volume 2), and rounds the result
// of engine/x87 to 64 bits.
#include "x87/transcendental.hh"

#include <algorithm>

#include "bochs.h"
#include "cpu/fpu/softfloat-specialize.h"
#include "cpu/softfloat3e/include/internals.h"
#include "cpu/softfloat3e/include/softfloat.h"
#include "cpu/softfloat3e/include/specialize.h"

namespace {

using x87::Real;

constexpr int kBias = FLOATX80_EXP_BIAS;
const floatx80 kNegativeOne = packFloatx80(1, kBias, uint64_t(1) << 63);
const floatx80 kNegativeHalf = packFloatx80(1, kBias - 1, uint64_t(1) << 63);
const floatx80 kOne = packFloatx80(0, kBias, uint64_t(1) << 63);

bool zero(floatx80 a) { return extF80_exp(a) == 0 && a.signif == 0; }
bool infinite(floatx80 a) { return extF80_exp(a) == 0x7FFF && a.signif << 1 == 0; }
floatx80 signed_zero(bool negative) { return packFloatx80(negative, 0, 0); }
floatx80 infinity(bool negative) { return packFloatx80(negative, 0x7FFF, uint64_t(1) << 63); }

floatx80 invalid(softfloat_status_t& status) {
  softfloat_raiseFlags(&status, softfloat_flag_invalid);
  return floatx80_default_nan;
}

// A pseudo-denormal is a denormal operand whose value has the exponent 1.
void note_denormal(floatx80 a, softfloat_status_t& status) {
  if (extF80_exp(a) == 0 && a.signif != 0) softfloat_raiseFlags(&status, softfloat_flag_denormal);
}

Real unpacked(floatx80 a) {
  return x87::real(extF80_sign(a), std::max<int>(extF80_exp(a), 1) - kBias, a.signif);
}

// As on the chips, also an exact result of the series is reported as inexact (log2 of 4). A product
// of two denormals is so small that its exponent, as wrapped for a handler of underflows, is still
// too small for a register.
floatx80 rounded(const Real& value, softfloat_status_t& status) {
  floatx80 result = softfloat_roundPackToExtF80(
      value.negative, std::max(value.exponent + kBias, -0x5FFF), uint64_t(value.significand >> 64),
      uint64_t(value.significand), 80, &status);
  softfloat_raiseFlags(&status, softfloat_flag_inexact);
  if (extF80_exp(result) == 0) softfloat_raiseFlags(&status, softfloat_flag_underflow);
  return result;
}

// Whether an operand decides the result: one without a meaning, or a NaN.
bool decided(floatx80 a, floatx80 b, floatx80& result, softfloat_status_t& status) {
  if (extF80_isUnsupported(a) || extF80_isUnsupported(b)) {
    result = invalid(status);
  } else if (extF80_isNaN(a) || extF80_isNaN(b)) {
    result = softfloat_propagateNaNExtF80UI(a.signExp, a.signif, b.signExp, b.signif, &status);
  } else {
    return false;
  }
  return true;
}

bool decided(floatx80 a, floatx80& result, softfloat_status_t& status) {
  return decided(a, signed_zero(false), result, status);
}

// Computes f(a). Returns -1 for an argument out of range, which stays in the register.
int trigonometric(floatx80 a, Real (*f)(const Real&), floatx80 of_zero, floatx80& result,
                  softfloat_status_t& status) {
  if (decided(a, result, status)) return 0;
  if (infinite(a)) {
    result = invalid(status);
  } else if (zero(a)) {
    result = of_zero;
  } else if (extF80_exp(a) >= kBias + 63) {
    return -1;
  } else {
    note_denormal(a, status);
    result = rounded(f(unpacked(a)), status);
  }
  return 0;
}

// y * log2(x) for numbers x > 0 and y
floatx80 log2_times(const Real& x, floatx80 y, softfloat_status_t& status) {
  bool below_1 = x.exponent < 0, one = x.exponent == 0 && x.significand << 1 == 0;
  bool negative = extF80_sign(y) != below_1;
  if (infinite(y)) return one ? invalid(status) : infinity(negative);
  note_denormal(y, status);
  if (zero(y) || one) return signed_zero(negative);
  return rounded(x87::log2_times(x, unpacked(y)), status);
}

}  // namespace

floatx80 f2xm1(floatx80 a, softfloat_status_t& status) {
  floatx80 result;
  if (decided(a, result, status)) return result;
  if (infinite(a)) return extF80_sign(a) ? kNegativeOne : a;
  if (zero(a)) return a;
  if (extF80_exp(a) >= kBias) {  // the manual defines a result for 1 and -1 only
    softfloat_raiseFlags(&status, softfloat_flag_inexact);
    bool negative_one = a.signExp == kNegativeOne.signExp && a.signif == kNegativeOne.signif;
    return negative_one ? kNegativeHalf : a;
  }
  note_denormal(a, status);
  return rounded(x87::exp2_minus_1(unpacked(a)), status);
}

floatx80 fyl2x(floatx80 x, floatx80 y, softfloat_status_t& status) {
  floatx80 result;
  if (decided(x, y, result, status)) return result;
  if (zero(x)) {
    if (zero(y)) return invalid(status);
    if (!infinite(y)) softfloat_raiseFlags(&status, softfloat_flag_divbyzero);
    return infinity(!extF80_sign(y));
  }
  if (extF80_sign(x)) return invalid(status);
  if (infinite(x)) {
    if (zero(y)) return invalid(status);
    note_denormal(y, status);
    return infinity(extF80_sign(y));
  }
  note_denormal(x, status);
  return log2_times(unpacked(x), y, status);
}

floatx80 fyl2xp1(floatx80 x, floatx80 y, softfloat_status_t& status) {
  floatx80 result;
  if (decided(x, y, result, status)) return result;
  if (infinite(x)) {
    if (extF80_sign(x) || zero(y)) return invalid(status);
    note_denormal(y, status);
    return infinity(extF80_sign(y));
  }
  bool negative = extF80_sign(x) != extF80_sign(y);
  if (infinite(y)) {
    if (zero(x)) return invalid(status);
    note_denormal(x, status);
    return infinity(negative);
  }
  note_denormal(x, status);
  note_denormal(y, status);
  if (zero(x) || zero(y)) return signed_zero(negative);
  if (extF80_sign(x) && extF80_exp(x) >= kBias) {  // the manual defines no result
    softfloat_raiseFlags(&status, softfloat_flag_inexact);
    return x;
  }
  return rounded(x87::log2_plus_1_times(unpacked(x), unpacked(y)), status);
}

floatx80 fpatan(floatx80 x, floatx80 y, softfloat_status_t& status) {
  floatx80 result;
  if (decided(x, y, result, status)) return result;
  note_denormal(x, status);
  note_denormal(y, status);
  // An infinity is more than all numbers, and a zero is less than all others.
  auto extended = [](floatx80 a) {
    constexpr int kMuch = 0x20000;
    bool negative = extF80_sign(a);
    if (infinite(a)) return x87::real(negative, kMuch, 1);
    return zero(a) ? x87::real(negative, -kMuch, 1) : unpacked(a);
  };
  bool axis = zero(y) || (infinite(x) && !infinite(y));
  if (axis && !extF80_sign(x)) return signed_zero(extF80_sign(y));
  if (axis) x = kNegativeOne, y = signed_zero(extF80_sign(y));
  return rounded(x87::arctangent(extended(y), extended(x)), status);
}

int fsincos(floatx80 a, floatx80* sine, floatx80* cosine, softfloat_status_t& status) {
  if (trigonometric(a, x87::sine, a, *sine, status) == -1) return -1;
  return trigonometric(a, x87::cosine, kOne, *cosine, status);
}

int fsin(floatx80& a, softfloat_status_t& status) {
  return trigonometric(a, x87::sine, a, a, status);
}

int fcos(floatx80& a, softfloat_status_t& status) {
  return trigonometric(a, x87::cosine, kOne, a, status);
}

int ftan(floatx80& a, softfloat_status_t& status) {
  return trigonometric(a, x87::tangent, a, a, status);
}
