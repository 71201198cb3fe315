/* SPDX-License-Identifier: MIT
   Prints results of the transcendental functions of the x87, each with its operands: the name, the
   rounding control, x in ST(0), y in ST(1), the result, and the status word. test_instruction_values.py has MPFR
   judge them. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct __attribute__((packed)) extended {
  uint64_t significand;
  uint16_t sign_exponent;
};

static uint64_t state = 1;

static uint64_t random_bits(void) { /* xorshift64* (Vigna 2016) */
  state ^= state >> 12;
  state ^= state << 25;
  state ^= state >> 27;
  return state * 2685821657736338717u;
}

/* A number with an exponent of -most to highest. */
static struct extended number(int most, int highest, int negative) {
  uint64_t bits = random_bits();
  int exponent = (int)(bits % (unsigned)(most + highest + 1)) - most;
  struct extended made = {random_bits() | 1ull << 63, (uint16_t)(exponent + 0x3fff)};
  if (negative && bits >> 63) made.sign_exponent |= 0x8000;
  return made;
}

#define RUN(code, then)                                                                         \
  __asm__ volatile("fninit\n\tfldcw %2\n\tfldt %4\n\tfldt %3\n\t" code "\n\tfnstsw %1\n\t" then \
                   "\n\tfstpt %0\n\tfninit"                                                    \
                   : "=m"(result), "=m"(status)                                                 \
                   : "m"(control), "m"(x), "m"(y))

#define DO(name, lowest, highest, signs, code, then)                                            \
  for (unsigned i = 0; i < count; i++) {                                                        \
    struct extended x = number(lowest, highest, signs), y = number(20, 20, 1), result;          \
    uint16_t control = 0x37f | (i & 3) << 10, status;                                           \
    RUN(code, then);                                                                            \
    printf("%s %u %04x%016llx %04x%016llx %04x%016llx %04x\n", name, i & 3, x.sign_exponent,    \
           (unsigned long long)x.significand, y.sign_exponent,                                  \
           (unsigned long long)y.significand, result.sign_exponent,                             \
           (unsigned long long)result.significand, status);                                     \
  }

/* FSINCOS gives the results of FSIN and FCOS. */
static int both_differ(uint16_t control, struct extended x) {
  struct extended y = x, result, sine, cosine;
  uint16_t status;
  RUN("fsin", "");
  sine = result;
  RUN("fcos", "");
  cosine = result;
  RUN("fsincos", "fstp %%st(0)");
  int differs = memcmp(&sine, &result, sizeof(result));
  RUN("fsincos", "fstp %%st(1)");
  return differs || memcmp(&cosine, &result, sizeof(result));
}

int main(int arguments, char** words) {
  unsigned count = arguments > 1 ? (unsigned)atoi(words[1]) : 20;
  DO("f2xm1", 70, -1, 1, "f2xm1", "")
  DO("fyl2x", 70, 70, 0, "fyl2x", "")
  DO("fyl2xp1", 70, -3, 1, "fyl2xp1", "")
  DO("fpatan", 70, 70, 1, "fpatan", "")
  DO("fsin", 70, 62, 1, "fsin", "")
  DO("fcos", 70, 62, 1, "fcos", "")
  DO("fptan", 70, 62, 1, "fptan", "fstp %%st(0)")
  for (unsigned i = 0; i < count; i++)
    if (both_differ(0x37f | (i & 3) << 10, number(70, 62, 1))) printf("fsincos differs\n");
  return 0;
}
