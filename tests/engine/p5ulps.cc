// SPDX-License-Identifier: MIT
// Compares the transcendental functions of the x87 (engine/x87) with MPFR.
//
//   p5ulps ARGUMENTS [SEED]   prints a line for each function: its name, the number of arguments,
//   the
//                             largest and the median error in units of the last place of 64 bits
//                             after rounding to nearest, the largest error before rounding, and the
//                             number of arguments with another rounding than MPFR in any of the
//                             four rounding controls
//   p5ulps --check            reads lines of tests/e2e/x87_functions.c and prints those whose
//   result
//                             is not the exact value, rounded as the line's rounding control says,
//                             or whose flags are not P alone, and C1 for a magnitude rounded up
#include <mpfr.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "x87/transcendental.hh"

namespace {

using x87::Real;
using x87::Wide;

constexpr int kPrecision = 256;  // more than the 66 + 63 bits of an exact reduction
constexpr mpfr_rnd_t kControls[] = {MPFR_RNDN, MPFR_RNDD, MPFR_RNDU, MPFR_RNDZ};

struct Number {
  mpfr_t value;
  explicit Number(int precision = kPrecision) { mpfr_init2(value, precision); }
  ~Number() { mpfr_clear(value); }
  Number(const Number&) = delete;
  Number& operator=(const Number&) = delete;
  operator mpfr_ptr() { return value; }
  operator mpfr_srcptr() const { return value; }
};

void set(mpfr_ptr number, const Real& from) {
  mpfr_set_ui(number, uint64_t(from.significand >> 64), MPFR_RNDN);
  mpfr_mul_2si(number, number, 64, MPFR_RNDN);
  Number low;
  mpfr_set_ui(low, uint64_t(from.significand), MPFR_RNDN);
  mpfr_add(number, number, low, MPFR_RNDN);
  mpfr_mul_2si(number, number, from.exponent - 127, MPFR_RNDN);
  if (from.negative) mpfr_neg(number, number, MPFR_RNDN);
}

// Rounds to odd: the last bit of an inexact result is set. So the sine of 2^-200 is less than
// 2^-200.
template <typename Function, typename... Values>
void to_odd(mpfr_ptr result, Function function, const Values&... values) {
  Number narrow(kPrecision - 1);
  bool inexact = function(narrow, values..., MPFR_RNDZ) != 0;
  mpfr_set(result, narrow, MPFR_RNDN);
  if (inexact) mpfr_sgn(result) > 0 ? mpfr_nextabove(result) : mpfr_nextbelow(result);
}

// x - n * pi/2 with the pi of 66 bits, and the lowest bits of n
unsigned reduce(mpfr_ptr rest, mpfr_ptr x) {
  Number half_pi, n;
  mpfr_set_str(half_pi, "C.90FDAA22168C234Cp-3", 16, MPFR_RNDN);
  mpfr_div(n, x, half_pi, MPFR_RNDN);
  mpfr_rint(n, n, MPFR_RNDN);
  mpfr_mul(rest, n, half_pi, MPFR_RNDN);
  mpfr_sub(rest, x, rest, MPFR_RNDN);
  return unsigned(mpfr_get_si(n, MPFR_RNDN) & 3);
}

void sine_of_quadrant(mpfr_ptr result, mpfr_ptr x, unsigned more) {
  Number rest;
  unsigned quadrant = reduce(rest, x) + more;
  to_odd(result, quadrant & 1 ? mpfr_cos : mpfr_sin, rest);
  if (quadrant & 2) mpfr_neg(result, result, MPFR_RNDN);
}

void exp2_minus_1(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) {
  mpfr_const_log2(result, MPFR_RNDN);
  mpfr_mul(result, result, x, MPFR_RNDN);
  mpfr_expm1(result, result, MPFR_RNDN);
}

void log2_times(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y) {
  mpfr_log2(result, x, MPFR_RNDN);
  mpfr_mul(result, result, y, MPFR_RNDN);
}

void log2_plus_1_times(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y) {
  Number sum;
  if (mpfr_add_si(sum, x, 1, MPFR_RNDN) == 0) return log2_times(result, sum, y);
  Number ln_2;
  mpfr_const_log2(ln_2, MPFR_RNDN);
  mpfr_log1p(result, x, MPFR_RNDN);
  mpfr_div(result, result, ln_2, MPFR_RNDN);
  mpfr_mul(result, result, y, MPFR_RNDN);
}

void arctangent(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y) { to_odd(result, mpfr_atan2, y, x); }

void sine(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) { sine_of_quadrant(result, x, 0); }
void cosine(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) { sine_of_quadrant(result, x, 1); }

void tangent(mpfr_ptr result, mpfr_ptr x, mpfr_ptr) {
  Number rest;
  unsigned quadrant = reduce(rest, x);
  to_odd(result, mpfr_tan, rest);
  if (quadrant & 1) mpfr_si_div(result, -1, result, MPFR_RNDN);
}

struct Function {
  const char* name;
  Real (*ours)(const Real& x, const Real& y);
  void (*exact)(mpfr_ptr result, mpfr_ptr x, mpfr_ptr y);
  int lowest, highest;  // exponents of x
  bool positive;        // x
};

const Function kFunctions[] = {
    {"f2xm1", [](const Real& x, const Real&) { return x87::exp2_minus_1(x); }, exp2_minus_1, -16445,
     -1, false},
    {"fyl2x", x87::log2_times, log2_times, -16445, 16383, true},
    {"fyl2xp1", x87::log2_plus_1_times, log2_plus_1_times, -16445, -1, false},
    {"fpatan", [](const Real& x, const Real& y) { return x87::arctangent(y, x); }, arctangent,
     -16445, 16383, false},
    {"fsin", [](const Real& x, const Real&) { return x87::sine(x); }, sine, -16445, 62, false},
    {"fcos", [](const Real& x, const Real&) { return x87::cosine(x); }, cosine, -16445, 62, false},
    {"fptan", [](const Real& x, const Real&) { return x87::tangent(x); }, tangent, -16445, 62,
     false},
};

class Arguments {
 public:
  explicit Arguments(unsigned seed) : bits_(seed) {}

  // Half of the exponents are within 8 of 0, as those of most programs are; the others are
  // anywhere. A quarter of the significands have at most 8 bits, or are next to such a number.
  Real next(int lowest, int highest, bool positive) {
    uint64_t choice = bits_();
    if (choice & 1) {
      lowest = std::max(lowest, -8);
      highest = std::min(highest, 8);
    } else if (choice & 2) {
      lowest = std::max(lowest, -80);
      highest = std::min(highest, 80);
    }
    int exponent = lowest + int(bits_() % unsigned(highest - lowest + 1));
    uint64_t significand = bits_() | uint64_t{1} << 63;
    if ((choice & 0xc) == 0) {
      significand &= ~(~uint64_t{0} >> 8);
      if (choice & 0x10) significand += bits_() % 16 - (choice & 0x20 ? 0 : 8);
      if (significand >> 63 == 0) significand = uint64_t{1} << 63;
    }
    return x87::real(!positive && (choice & 0x40), exponent, significand);
  }

 private:
  std::mt19937_64 bits_;
};

double units_of_last_place(mpfr_ptr a, mpfr_ptr exact) {
  Number difference;
  mpfr_sub(difference, a, exact, MPFR_RNDN);
  mpfr_mul_2si(difference, difference, 64 - mpfr_get_exp(exact), MPFR_RNDN);
  return std::fabs(mpfr_get_d(difference, MPFR_RNDN));
}

void compare(const Function& function, unsigned long count, unsigned seed) {
  Arguments arguments(seed);
  Number x, y, ours, exact, our_result(64), right(64);
  std::vector<double> errors;
  double unrounded = 0;
  unsigned long other_roundings = 0;
  while (errors.size() < count) {
    Real a = arguments.next(function.lowest, function.highest, function.positive);
    Real b = arguments.next(-16445, 16383, false);
    set(x, a);
    set(y, b);
    if (mpfr_cmp_si(x, 1) == 0) continue;  // a logarithm of 0 is not a Real
    function.exact(exact, x, y);
    set(ours, function.ours(a, b));
    unrounded = std::max(unrounded, units_of_last_place(ours, exact));
    bool same = true;
    for (mpfr_rnd_t control : kControls) {
      mpfr_set(our_result, ours, control);
      mpfr_set(right, exact, control);
      same = same && mpfr_equal_p(our_result, right);
      if (control == MPFR_RNDN) errors.push_back(units_of_last_place(our_result, exact));
    }
    other_roundings += !same;
  }
  std::sort(errors.begin(), errors.end());
  std::printf("%-8s %lu %.4f %.4f %.1e %lu\n", function.name, count, errors.back(),
              errors[count / 2], unrounded, other_roundings);
}

// An extended number of 20 hexadecimal digits.
Real parsed(const char* digits) {
  std::string text(digits);
  auto sign_exponent = unsigned(std::stoul(text.substr(0, 4), nullptr, 16));
  return x87::real(sign_exponent >> 15, int(sign_exponent & 0x7fff) - 0x3fff,
                   std::stoull(text.substr(4), nullptr, 16));
}

bool right(const Function& function, unsigned control, const Real& x, const Real& y,
           const Real& result, unsigned status) {
  Number a, b, exact, expected(64), found(64);
  set(a, x);
  set(b, y);
  set(found, result);
  function.exact(exact, a, b);
  mpfr_set(expected, exact, kControls[control]);
  bool up = mpfr_cmpabs(expected, exact) > 0;
  return mpfr_equal_p(found, expected) && (status & 0x3f) == 0x20 && (status >> 9 & 1) == up;
}

int check() {
  char line[200], name[9], x[21], y[21], result[21];
  unsigned control, status;
  unsigned long lines = 0, wrong = 0;
  while (std::fgets(line, sizeof line, stdin)) {
    if (std::sscanf(line, "%8s %u %20s %20s %20s %x", name, &control, x, y, result, &status) != 6)
      continue;
    for (const Function& function : kFunctions) {
      if (std::strcmp(function.name, name) != 0) continue;
      lines++;
      if (right(function, control & 3, parsed(x), parsed(y), parsed(result), status)) continue;
      wrong++;
      std::fputs(line, stdout);
    }
  }
  std::printf("%lu of %lu are wrong\n", wrong, lines);
  return wrong > 0 || lines == 0;
}

}  // namespace

int main(int count, char** words) {
  mpfr_set_emin(-100000);
  if (count > 1 && std::strcmp(words[1], "--check") == 0) return check();
  unsigned long arguments = count > 1 ? std::strtoul(words[1], nullptr, 10) : 0;
  if (arguments == 0) {
    std::fprintf(stderr, "p5ulps: expected the number of arguments for each function\n");
    return 2;
  }
  unsigned seed = count > 2 ? unsigned(std::strtoul(words[2], nullptr, 10)) : 1;
  for (const Function& function : kFunctions) compare(function, arguments, seed);
  return 0;
}
