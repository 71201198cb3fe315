/* SPDX-License-Identifier: MIT
   Executes random x87 instructions and prints a checksum of each block of cases, or each case of one
   block: `x87_cases BLOCKS [FIRST [print]]`. test_instruction_values.py compares the output in the guest with
   the output on the host. All exceptions are masked. The transcendental functions are left out,
   because their results may differ by a unit of the last place. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1000 };

struct __attribute__((packed)) extended {
  uint64_t significand;
  uint16_t sign_exponent;
};

struct outcome {
  uint16_t status;
  struct extended st0, st1;
  uint64_t memory[2];
};

static uint64_t state;

static uint64_t random_bits(void) { /* splitmix64 (Steele, Lea and Flood 2014) */
  uint64_t z = state += 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/* Any encoding: also denormals, pseudo-denormals, unnormals, infinities, NaNs and pseudo-NaNs. */
static struct extended operand(void) {
  uint64_t choice = random_bits(), bits = random_bits();
  struct extended made = {bits | 1ull << 63, (uint16_t)(random_bits() & 0x8000)};
  switch (choice % 16) {
    case 0: made.sign_exponent |= bits & 0x7fff; made.significand = random_bits(); break;
    case 1: made.significand = choice & 16 ? bits : bits >> (choice >> 8) % 64; break;
    case 2: made.significand = choice & 16 ? 0 : 1ull << 63; break;
    case 3: made.sign_exponent |= 0x7fff; made.significand = choice & 16 ? bits : 1ull << 63; break;
    case 4: made.sign_exponent |= choice >> 8 & 0x7fff; break;
    case 5:
    case 6: /* integers and halves */
      made.sign_exponent |= 0x3fff + choice % 64;
      made.significand = (bits & ~0ull << (choice >> 8) % 64) | 1ull << 63;
      break;
    default: made.sign_exponent |= 0x3fff + (choice >> 8) % 130 - 65; break;
  }
  return made;
}

#define ALWAYS 0x3a7f /* the six flags, the stack fault, C1 and the top of the stack */
#define ALL 0x7f7f    /* and C0, C2, C3 */

/* code: the instruction, with %5 as its operand in memory. defined: bits of the status word. */
#define INSTRUCTIONS(X)                                                                        \
  X("fadd", ALWAYS, "faddp") X("fsub", ALWAYS, "fsubp") X("fsubr", ALWAYS, "fsubrp")            \
  X("fmul", ALWAYS, "fmulp") X("fdiv", ALWAYS, "fdivp") X("fdivr", ALWAYS, "fdivrp")            \
  X("fsqrt", ALWAYS, "fsqrt") X("frndint", ALWAYS, "frndint") X("fscale", ALWAYS, "fscale")     \
  X("fxtract", ALWAYS, "fxtract") X("fprem", ALL, "fprem") X("fprem1", ALL, "fprem1")           \
  X("fcom", ALL, "fcom") X("fucom", ALL, "fucom") X("ftst", ALL, "ftst") X("fxam", ALL, "fxam") \
  X("fchs", ALWAYS, "fchs") X("fabs", ALWAYS, "fabs") X("fxch", ALWAYS, "fxch")                 \
  X("fst32", ALWAYS, "fsts %4") X("fst64", ALWAYS, "fstl %4") X("fist16", ALWAYS, "fists %4")   \
  X("fist32", ALWAYS, "fistl %4") X("fist64", ALWAYS, "fistpll %4")                            \
  X("fbstp", ALWAYS, "fbstp %4") X("fld32", ALWAYS, "flds %4") X("fld64", ALWAYS, "fldl %4")    \
  X("fild16", ALWAYS, "filds %4") X("fild32", ALWAYS, "fildl %4")                              \
  X("fild64", ALWAYS, "fildll %4") X("fadd32", ALWAYS, "fadds %4")                             \
  X("fdiv64", ALWAYS, "fdivl %4") X("fimul32", ALWAYS, "fimull %4")                            \
  X("fcom64", ALL, "fcoml %4") X("ficom16", ALL, "ficoms %4") X("fld1", ALWAYS, "fld1")         \
  X("fldpi", ALWAYS, "fldpi") X("fldl2e", ALWAYS, "fldl2e") X("fldl2t", ALWAYS, "fldl2t")       \
  X("fldln2", ALWAYS, "fldln2") X("fldlg2", ALWAYS, "fldlg2") X("fldz", ALWAYS, "fldz")

#define NAME(name, defined, code) name,
#define DEFINED(name, defined, code) defined,
#define CASE(name, defined, code)                                                             \
  case __COUNTER__ - 1:                                                                       \
    __asm__ volatile("fninit\n\tfldcw %5\n\tfldt %7\n\tfldt %6\n\t" code                      \
                     "\n\tfnstsw %0\n\tfstpt %1\n\tfstpt %2\n\tfninit"                        \
                     : "=m"(made.status), "=m"(made.st0), "=m"(made.st1), "=m"(made.memory)   \
                     : "m"(made.memory[0]), "m"(control), "m"(a), "m"(b));                    \
    break;

static const char* const names[] = {INSTRUCTIONS(NAME)};
static const uint16_t defined_bits[] = {INSTRUCTIONS(DEFINED)};
enum { COUNT = sizeof(names) / sizeof(*names) };
_Static_assert(__COUNTER__ == 0, "the cases are numbered from 0");

static uint64_t mixed(uint64_t sum, const void* bytes, unsigned count) { /* FNV-1a */
  for (const unsigned char* byte = bytes; count--; byte++) sum = (sum ^ *byte) * 0x100000001b3u;
  return sum;
}

static uint64_t execute(uint64_t sum, int print) {
  unsigned which = (unsigned)(random_bits() % COUNT);
  static const uint16_t precisions[] = {0x000, 0x200, 0x300, 0x300};
  uint64_t choice = random_bits();
  uint16_t control = 0x07f | precisions[choice & 3] | (choice >> 2 & 3) << 10;
  struct extended a = operand(), b = operand();
  struct outcome made;
  memset(&made, 0, sizeof(made));
  made.memory[0] = random_bits();
  if (choice & 0x100) made.memory[0] &= 0x80000000807fffffu;  /* denormals of 64 and 32 bits */
  uint64_t before = made.memory[0];
  switch (which) { INSTRUCTIONS(CASE) }
  made.status &= defined_bits[which];
  if (print)
    printf("%s %04x %04x%016llx %04x%016llx %016llx: %04x %04x%016llx %04x%016llx %016llx%04x\n",
           names[which], control, a.sign_exponent, (unsigned long long)a.significand,
           b.sign_exponent, (unsigned long long)b.significand, (unsigned long long)before,
           made.status, made.st0.sign_exponent, (unsigned long long)made.st0.significand,
           made.st1.sign_exponent, (unsigned long long)made.st1.significand,
           (unsigned long long)made.memory[0], (unsigned)(made.memory[1] & 0xffff));
  sum = mixed(sum, &made.status, sizeof(made.status));
  sum = mixed(sum, &made.st0, sizeof(made.st0));
  sum = mixed(sum, &made.st1, sizeof(made.st1));
  return mixed(sum, made.memory, 10);
}

int main(int arguments, char** words) {
  unsigned blocks = arguments > 1 ? (unsigned)atoi(words[1]) : 1;
  unsigned first = arguments > 2 ? (unsigned)atoi(words[2]) : 0;
  for (unsigned block = first; block < first + blocks; block++) {
    state = block;
    uint64_t sum = 0xcbf29ce484222325u;
    for (unsigned i = 0; i < BLOCK; i++) sum = execute(sum, arguments > 3);
    printf("block %u %016llx\n", block, (unsigned long long)sum);
  }
  return 0;
}
