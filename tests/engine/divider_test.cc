// SPDX-License-Identifier: MIT
// Does the flawed divider fail where the divider of 1994 failed?
#include "x87/divider.hh"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace {

constexpr int kFirst = 58;  // the bit behind the four that choose a row of the table

// Random significands of doubles.
class Operands {
 public:
  uint64_t dividend() { return (draw_() | uint64_t{1} << 63) & kDouble; }
  // A divisor with 1.xxxx, then `ones` ones and a zero.
  uint64_t divisor(unsigned row, int ones) {
    const uint64_t run = ((uint64_t{1} << ones) - 1) << (kFirst + 1 - ones);
    const uint64_t rest = draw_() >> (6 + ones);
    return (uint64_t{1} << 63 | uint64_t{row} << 59 | run | rest) & kDouble;
  }
  unsigned row() { return unsigned(draw_() >> 60); }
  unsigned short_row() { return 1 + 3 * unsigned(draw_() % 5); }

 private:
  static constexpr uint64_t kDouble = ~uint64_t{0x7FF};
  std::mt19937_64 draw_{1};
};

// The relative error of the flawed divider.
double error(uint64_t a, uint64_t b) {
  const x87::Quotient found = x87::divide(a, b, true), right = x87::divide(a, b, false);
  const auto value = [](const x87::Quotient& q) {
    return std::ldexp(double(q.significand), -63 - q.below_1);
  };
  return std::abs(value(found) / value(right) - 1);
}

}  // namespace

// Coe and Tang, It Takes Six Ones To Reach a Flaw (ARITH 12, 1995): a divisor that fails begins
// with 1.0001, 1.0100, 1.0111, 1.1010 or 1.1101, and six ones follow.
TEST_CASE("x87: a divisor without six ones behind a short row divides right") {
  Operands operands;
  for (int i = 0; i < 200'000; i++) {
    const uint64_t a = operands.dividend();
    if (error(a, operands.divisor(operands.short_row(), i % 6)) != 0) FAIL("few ones");
    const unsigned row = operands.row();
    if (row % 3 != 1 && error(a, operands.divisor(row, 6 + i % 12)) != 0) FAIL("another row");
  }
}

// The same paper: the first eight digits, of two bits each, are right. Edelman, The Mathematics of
// the Pentium Division Bug (SIAM Review 39, 1997): one in 8.8 billion pairs of doubles fails. Here
// the divisors have 13 to 20 ones, which are nearly all of them, and each run of ones has its
// weight.
TEST_CASE("x87: the flaw is as rare and as large as published") {
  Operands operands;
  constexpr int kEach = 250'000;
  double share = 0, largest = 0;
  for (int ones = 13; ones <= 20; ones++) {
    int wrong = 0;
    for (int i = 0; i < kEach; i++) {
      const double found = error(operands.dividend(), operands.divisor(operands.short_row(), ones));
      wrong += found != 0;
      largest = std::max(largest, found);
    }
    share += 5.0 / 16 * std::ldexp(1, -ones - 1) * wrong / kEach;
  }
  CHECK(1 / share > 8.8e9 / 3);
  CHECK(1 / share < 8.8e9 * 3);
  CHECK(largest < 2 * std::pow(4, -7));
  CHECK(largest > std::pow(4, -9));
}
