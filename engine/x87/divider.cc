// SPDX-License-Identifier: MIT
#include "x87/divider.hh"

namespace x87 {
namespace {

__extension__ using Wide = unsigned __int128;

// A partial remainder has 4 bits before the binary point, one of them the sign, and 68 after it.
constexpr int kFraction = 68;
constexpr Wide kMask = (Wide{1} << (kFraction + 4)) - 1;
constexpr int kDigits = 35;  // 2 bits each

// The table of quotient digits, with a row for each sixteenth of a divisor from 1 to 2. Each number
// is an estimate of the partial remainder, in eighths: the first one with the next digit. The
// estimate is at most 1/4 below the remainder, so each digit q keeps |remainder - q * divisor|
// below 2/3 of the divisor (Edelman, The Mathematics of the Pentium Division Bug, SIAM Review 39,
// 1997; Coe and Tang, It Takes Six Ones To Reach a Flaw, ARITH 12, 1995; figure 4 of Sharangpani
// and Barton, Statistical Analysis of Floating Point Flaw in the Pentium Processor, Intel 1994).
struct Row {
  int lowest, minus_one, zero, one, two, end;
};

constexpr Row kRows[16] = {
    {-24, -13, -4, 3, 12, 23}, {-25, -13, -4, 3, 12, 24}, {-27, -15, -5, 4, 14, 26},
    {-28, -15, -5, 4, 14, 27}, {-29, -15, -5, 4, 14, 28}, {-31, -17, -5, 4, 16, 30},
    {-32, -17, -5, 4, 16, 31}, {-33, -17, -5, 4, 16, 32}, {-35, -19, -6, 5, 18, 34},
    {-36, -19, -6, 5, 18, 35}, {-37, -19, -6, 5, 18, 36}, {-39, -21, -6, 5, 20, 38},
    {-40, -21, -6, 5, 20, 39}, {-41, -21, -6, 5, 20, 40}, {-43, -23, -7, 6, 22, 42},
    {-44, -23, -7, 6, 22, 43}};

// In these rows the flawed table lacks its last entry, and gives 0.
constexpr bool is_short(unsigned row) { return row % 3 == 1; }

int digit(unsigned row, int estimate, bool flawed) {
  const Row& limits = kRows[row];
  if (estimate < limits.lowest) return 0;
  if (estimate < limits.minus_one) return -2;
  if (estimate < limits.zero) return -1;
  if (estimate < limits.one) return 0;
  if (estimate < limits.two) return 1;
  return estimate < limits.end - (flawed && is_short(row)) ? 2 : 0;
}

// The seven bits before and after the binary point, as a signed number of eighths.
int estimate(Wide sum, Wide carry) {
  unsigned bits = unsigned(sum >> (kFraction - 3)) + unsigned(carry >> (kFraction - 3));
  return int(bits & 0x7F) - (bits & 0x40 ? 0x80 : 0);
}

}  // namespace

bool divider_is_flawed(uint32_t signature) {
  switch (signature & 0xFFF) {
    case 0x513:
    case 0x515:
    case 0x521:
    case 0x522:
      return true;
    default:
      return false;
  }
}

Quotient divide(uint64_t a, uint64_t b, bool flawed) {
  const Wide divisor = Wide{b} << (kFraction - 63);
  const unsigned row = unsigned(b >> 59) & 0xF;
  Wide sum = Wide{a} << (kFraction - 63), carry = 0, quotient = 0;
  for (int i = 0; i < kDigits; i++) {
    const int q = digit(row, estimate(sum, carry), flawed);
    quotient = quotient * 4 + Wide(q);
    // The chip adds the complement of a multiple, and the missing 1 is the lowest carry.
    const Wide multiple = q == 0 ? 0 : (q & 1) ? divisor : divisor << 1;
    const Wide added = q > 0 ? ~multiple : multiple;
    const Wide carries = ((sum & carry) | (sum & added) | (carry & added)) << 1 | (q > 0);
    sum = (sum ^ carry ^ added) << 2 & kMask;
    carry = carries << 2 & kMask;
  }
  const Wide rest = (sum + carry) & kMask;
  if (rest >> (kFraction + 3)) quotient--;
  const bool exact = rest == 0 || rest == ((Wide{0} - (divisor << 2)) & kMask);
  // The first digit is that before the binary point.
  const int point = 2 * (kDigits - 1);
  const bool below_1 = quotient >> point == 0;
  quotient <<= 127 - point + below_1;
  return {uint64_t(quotient >> 64), uint64_t(quotient) | !exact, below_1};
}

}  // namespace x87
