// SPDX-License-Identifier: MIT
#include "x87/transcendental.hh"

#include <array>
#include <cstddef>

namespace x87 {
namespace {

// A fraction is a number in [0, 1) in units of 2^-128. A product or a quotient of fractions is
// rounded down.
using Fraction = Wide;

constexpr Wide wide(uint64_t high, uint64_t low) { return Wide{high} << 64 | low; }

constexpr Wide kTop = Wide{1} << 127;
constexpr Wide kSqrt2 = wide(0xB504F333F9DE6484, 0x597D89B3754ABE9F);  // in units of 2^-127
constexpr Fraction kLn2 = wide(0xB17217F7D1CF79AB, 0xC9E3B39803F2F6AF);
constexpr Wide kTwoByLn2 = wide(0xB8AA3B295C17F0BB, 0xBE87FED0691D3E88);  // in units of 2^-126
constexpr Wide kPi = wide(0xC90FDAA22168C234, 0xC4C6628B80DC1CD1);        // in units of 2^-126
// Half of the chip's pi of 66 bits, in units of 2^-65.
constexpr Wide kChipHalfPi = wide(0xC90FDAA22168C234, 0xC000000000000000) >> 62;

// arctan(k / 8) for k = 1 to 8
constexpr std::array<Fraction, 8> kArctanEighths{
    wide(0x1FD5BA9AAC2F6DC6, 0x5912F313E7D111DE), wide(0x3EB6EBF25901BAC5, 0x5B71E7BD7DE885F9),
    wide(0x5BD86507937BC239, 0xC55190916E7F2241), wide(0x76B19C1586ED3DA2, 0xB7F222F65E1D4681),
    wide(0x8F005D5EF7F59F9B, 0x5C835E1665C43747), wide(0xA4BC7D1934F70924, 0x19A87F2A457DAC9E),
    wide(0xB8053E2BC2319E73, 0xCB2DA55210A4443D), wide(0xC90FDAA22168C234, 0xC4C6628B80DC1CD1)};

// The high half of the product.
Wide product(Wide a, Wide b) {
  uint64_t a_high = a >> 64, a_low = a, b_high = b >> 64, b_low = b;
  Wide middle = Wide{a_high} * b_low, other = Wide{a_low} * b_high;
  Wide carry = (Wide{a_low} * b_low >> 64) + uint64_t(middle) + uint64_t(other);
  return Wide{a_high} * b_high + (middle >> 64) + (other >> 64) + (carry >> 64);
}

// n / d, for n < d and a divisor with its top bit set: two digits of 64 bits (Knuth, The Art of
// Computer Programming, volume 2, 4.3.1, algorithm D). `exact`: whether nothing remains.
Fraction quotient(Wide n, Wide d, bool& exact) {
  uint64_t d_high = d >> 64, d_low = d;
  Fraction result = 0;
  for (int i = 0; i < 2; i++) {
    uint64_t digit = uint64_t(n >> 64) >= d_high ? ~uint64_t{0} : uint64_t(n / d_high);
    Wide rest = n - Wide{digit} * d_high;
    while (rest >> 64 == 0 && Wide{digit} * d_low > rest << 64) {
      digit--;
      rest += d_high;
    }
    n = (rest << 64) - Wide{digit} * d_low;
    result = result << 64 | digit;
  }
  exact = n == 0;
  return result;
}

int leading_zeros(Wide value) {
  uint64_t high = value >> 64;
  return high ? __builtin_clzll(high) : 64 + __builtin_clzll(uint64_t(value));
}

// significand * 2^(exponent - 127), for a significand other than 0
Real normal(bool negative, int exponent, Wide significand) {
  int zeros = leading_zeros(significand);
  return {negative, exponent - zeros, significand << zeros};
}

Real irrational(Real value) {
  value.significand |= 1;
  return value;
}

// |x|, for |x| < 1
Fraction fraction(const Real& x) {
  int shift = -1 - x.exponent;
  return shift < 128 ? x.significand >> shift : 0;
}

Real times(const Real& a, const Real& b) {
  return normal(a.negative != b.negative, a.exponent + b.exponent + 1,
                product(a.significand, b.significand));
}

Real divided(const Real& a, const Real& b, bool& exact) {
  bool less = a.significand < b.significand;
  Wide numerator = less ? a.significand : a.significand >> 1;
  return normal(a.negative != b.negative, a.exponent - b.exponent - less,
                quotient(numerator, b.significand, exact));
}

// x * (1 + change) or x * (1 - change)
Real enlarged(const Real& x, Fraction change) {
  Wide half = x.significand >> 1;
  return normal(x.negative, x.exponent + 1, half + product(half, change));
}

Real reduced(const Real& x, Fraction change) {
  return normal(x.negative, x.exponent, x.significand - product(x.significand, change));
}

template <std::size_t N>
using Series = std::array<Fraction, N>;

// 1 / first!, 1 / (first + step)!, ...
template <std::size_t N>
constexpr Series<N> inverse_factorials(unsigned first, unsigned step) {
  Series<N> made{};
  Fraction inverse = ~Wide{0};
  unsigned number = 1;
  for (std::size_t i = 0; i < N; i++) {
    while (number < first + i * step) inverse /= ++number;
    made[i] = inverse;
  }
  return made;
}

// 1/3, 1/5, 1/7, ...
template <std::size_t N>
constexpr Series<N> inverse_odd_numbers() {
  Series<N> made{};
  for (std::size_t i = 0; i < N; i++) made[i] = ~Wide{0} / (2 * i + 3);
  return made;
}

// The number of terms makes the first omitted term smaller than 2^-105 at the end of its range.
constexpr auto kSine = inverse_factorials<13>(3, 2);         // u <= (pi/4)^2
constexpr auto kCosine = inverse_factorials<13>(2, 2);       // u <= (pi/4)^2
constexpr auto kExponential = inverse_factorials<27>(2, 1);  // u <= ln 2
constexpr auto kLogarithm = inverse_odd_numbers<21>();       // u <= (sqrt(2) - 1)^4
constexpr auto kArctangent = inverse_odd_numbers<13>();      // u <= 1/256

// u * (series[0] + u * (series[1] + ...)), or with alternating signs
template <std::size_t N>
Fraction sum(const Series<N>& series, Fraction u) {
  Fraction value = series[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) value = series[i] + product(u, value);
  return product(u, value);
}

template <std::size_t N>
Fraction alternating(const Series<N>& series, Fraction u) {
  Fraction value = series[N - 1];
  for (std::size_t i = N - 1; i-- > 0;) value = series[i] - product(u, value);
  return product(u, value);
}

// log2((d + n) / (d - n)), for |n / d| <= (sqrt(2) - 1)^2
Real log2_of_ratio(const Real& n, const Real& d) {
  bool exact;
  Real s = divided(n, d, exact);
  Real scaled = times(s, {false, 1, kTwoByLn2});
  return enlarged(scaled, sum(kLogarithm, fraction(times(s, s))));
}

// log2(significand * 2^(exponent - 127)), which is not 0
Real log2(int exponent, Wide significand) {
  Real difference, total;
  if (significand == kTop) {
    return normal(exponent < 0, 127, Wide(exponent < 0 ? -exponent : exponent));
  } else if (significand < kSqrt2) {
    difference = normal(false, 0, significand - kTop);
    total = normal(false, 1, (significand >> 1) + (kTop >> 1));
  } else {  // the logarithm of half of the number
    exponent++;
    difference = normal(true, -1, -significand);
    total = normal(false, 0, (significand >> 1) + kTop);
  }
  Real part = log2_of_ratio(difference, total);
  if (exponent == 0) return irrational(part);
  // |exponent| < 2^15, in units of 2^-112
  __extension__ __int128 whole = __int128{exponent} * (__int128{1} << 112);
  __extension__ __int128 rest = fraction(part) >> 16;
  whole += part.negative ? -rest : rest;
  return irrational(normal(whole < 0, 15, whole < 0 ? -whole : whole));
}

Real scaled_log2(const Real& log2, const Real& y, bool exact) {
  Real result = times(log2, y);
  return exact ? result : irrational(result);
}

// Whether 1 - sqrt(1/2) >= |x|. The manuals define FYL2XP1 for these arguments only.
bool near_zero(const Real& x) {
  return x.exponent < -2 || (x.exponent == -2 && x.significand <= wide(0x95F619980C4336F7, 0));
}

// 1 + x, for x > -1
Real one_plus(const Real& x) {
  if (x.negative) return normal(false, -1, -fraction(x));
  if (x.exponent < 0) return normal(false, 1, (kTop >> 1) + (fraction(x) >> 2));
  Wide one = x.exponent < 127 ? kTop >> 1 >> x.exponent : 0;
  return normal(false, x.exponent + 1, (x.significand >> 1) + one);
}

struct Reduced {
  bool negative;
  unsigned quadrant;
  Real angle;  // at most pi/4
};

// |x| = quadrant * pi/2 + angle. For |x| >= 1/2 all numbers are integers in units of 2^-65.
Reduced reduce(const Real& x) {
  Real angle = x;
  angle.negative = false;
  if (x.exponent < -1) return {x.negative, 0, angle};
  Wide units = (x.significand >> 64) << (x.exponent + 2);
  Wide quadrant = units / kChipHalfPi, rest = units % kChipHalfPi;
  bool above = rest > kChipHalfPi / 2;
  if (above) rest = kChipHalfPi - rest;
  return {x.negative, unsigned(quadrant & 3) + above, normal(above, 127 - 65, rest)};
}

Fraction square(const Real& angle) { return fraction(times(angle, angle)); }

Real sine_near_zero(const Real& angle) {
  Real result = reduced(angle, alternating(kSine, square(angle)));
  // The sine is less than the angle, also where 128 bits do not show it.
  if (result.significand == angle.significand)
    result = normal(angle.negative, angle.exponent, angle.significand - 1);
  return result;
}

Real cosine_near_zero(const Real& angle) {
  return normal(false, -1, ~alternating(kCosine, square(angle)));
}

Real sine_of_quadrant(const Reduced& x, unsigned quadrant) {
  Real result = quadrant & 1 ? cosine_near_zero(x.angle) : sine_near_zero(x.angle);
  result.negative ^= (quadrant & 2) != 0;
  return irrational(result);
}

// arctan(n / d), for n / d <= 1/16
Real arctangent_near_zero(const Real& n, const Real& d) {
  bool exact;
  Real q = divided(n, d, exact);
  Real result = reduced(q, alternating(kArctangent, fraction(times(q, q))));
  if (exact && result.significand == q.significand)
    result = normal(q.negative, q.exponent, q.significand - 1);
  return result;
}

// arctan(n / d), for positive n <= d with significands of 64 bits
Real arctangent_of_ratio(const Real& n, const Real& d) {
  int difference = d.exponent - n.exponent;
  if (difference > 5) return arctangent_near_zero(n, d);
  // arctan(n / d) = arctan(k / 8) + arctan((8 n - k d) / (8 d + k n)), exactly
  Wide a = (n.significand >> 64) << (5 - difference), b = (d.significand >> 64) << 5;
  unsigned k = unsigned((8 * a + b / 2) / b);
  if (k == 0) return arctangent_near_zero(n, d);
  Fraction base = kArctanEighths[k - 1];
  bool below = 8 * a < k * b;
  Wide numerator = below ? k * b - 8 * a : 8 * a - k * b;
  if (numerator != 0) {
    Real rest = arctangent_near_zero(normal(false, 0, numerator), normal(false, 0, 8 * b + k * a));
    base = below ? base - fraction(rest) : base + fraction(rest);
  }
  return normal(false, -1, base);
}

}  // namespace

Real real(bool negative, int exponent, uint64_t significand) {
  int zeros = __builtin_clzll(significand);
  return {negative, exponent - zeros, wide(significand << zeros, 0)};
}

Real exp2_minus_1(const Real& x) {
  Real t = times(x, {false, -1, kLn2});
  return irrational(x.negative ? reduced(t, alternating(kExponential, fraction(t)))
                               : enlarged(t, sum(kExponential, fraction(t))));
}

Real log2_times(const Real& x, const Real& y) {
  return scaled_log2(log2(x.exponent, x.significand), y, x.significand == kTop);
}

Real log2_plus_1_times(const Real& x, const Real& y) {
  if (near_zero(x)) {
    // log2(1 + x) = log2((d + n) / (d - n)) with n = x and d = 2 + x
    Wide part = fraction(x) >> 3;
    Real two_plus = normal(false, 2, x.negative ? (kTop >> 1) - part : (kTop >> 1) + part);
    return irrational(times(log2_of_ratio(x, two_plus), y));
  }
  Real one_plus_x = one_plus(x);
  return log2_times(one_plus_x, y);
}

Real arctangent(const Real& y, const Real& x) {
  bool steep =
      y.exponent > x.exponent || (y.exponent == x.exponent && y.significand > x.significand);
  Real small = steep ? x : y, large = steep ? y : x;
  small.negative = large.negative = false;
  Real angle = arctangent_of_ratio(small, large);
  if (steep || x.negative) {  // in units of 2^-126
    Wide part = fraction(angle) >> 2;
    if (steep)
      part = x.negative ? (kPi >> 1) + part : (kPi >> 1) - part;
    else
      part = kPi - part;
    angle = normal(false, 1, part);
  }
  angle.negative = y.negative;
  return irrational(angle);
}

Real sine(const Real& x) {
  Reduced part = reduce(x);
  Real result = sine_of_quadrant(part, part.quadrant);
  result.negative ^= x.negative;
  return result;
}

Real cosine(const Real& x) {
  Reduced part = reduce(x);
  return sine_of_quadrant(part, part.quadrant + 1);
}

Real tangent(const Real& x) {
  Reduced part = reduce(x);
  bool exact;
  Real sine = sine_near_zero(part.angle), cosine = cosine_near_zero(part.angle), result;
  if (part.quadrant & 1) {
    result = divided(cosine, sine, exact);
    result.negative = !result.negative;
  } else if (part.angle.exponent < -32) {  // the tangent is more than the angle
    result = enlarged(part.angle, square(part.angle) / 3);
  } else {
    result = divided(sine, cosine, exact);
  }
  result.negative ^= x.negative;
  return irrational(result);
}

}  // namespace x87
