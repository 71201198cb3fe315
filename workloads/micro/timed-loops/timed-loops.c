/* SPDX-License-Identifier: MIT */
/*
 * timed-loops: loops in assembly language whose clocks were published by people who measured them
 * on a Pentium. Phase = loop. Each loop works on `words` words in L1. A run with fewer words shows
 * what the call and the end of the loop cost.
 *
 *   1 to 6    the checksum of TCP/IP, word by word of 16 bits (abrash97 chapter 21)
 *   11 to 20  loops over numbers of many words of 32 bits (granlund03)
 *   21 to 23  SHLD before pairs of instructions; a word stands for one repetition (granlund03)
 *   24 to 27  loops over such numbers that are not written for the Pentium (granlund03)
 *   30        the delay loop of old Linux kernels; a word stands for 20000 iterations (vandorst95)
 *
 * The published clocks belong to certain instructions in a certain order, so the instructions are
 * fixed here: which instructions stand side by side, what stands between a load and the use of its
 * register, and how much one iteration does. A loop begins with EDI = to, ESI = from, EBX = other,
 * ECX = words and EAX = EDX = EBP = 0, and returns EAX. The same work in C checks its results.
 */
#include "p5w.h"

#define WORDS_MAX 240
#define GROUP 24 /* words: every loop makes whole iterations */
#define WORDS_AFTER 8 /* some loops load words behind the last one that they use */

/* Not larger than a page, so each set of L1D has a free way for the stack. */
static struct {
  uint32_t to[WORDS_MAX + WORDS_AFTER], from[WORDS_MAX + WORDS_AFTER],
      other[WORDS_MAX + WORDS_AFTER];
} data __attribute__((aligned(4096)));

/* The number of ones in a byte. Two loops use it by its name. */
uint8_t ones[256] __attribute__((aligned(32), used));

typedef uint32_t timed_loop(uint32_t *to, const uint32_t *from, const uint32_t *other, long words);

#ifdef __i386__

/* `before` prepares the registers, and `behind` makes the result. Label 1 is the loop. */
#define LOOP(name, before, body, behind)                                                    \
  timed_loop loop_##name;                                                                   \
  __asm__(".text\n.balign 32\nloop_" #name ":\n"                                            \
          "  push %ebx\n  push %esi\n  push %edi\n  push %ebp\n"                            \
          "  mov 20(%esp), %edi\n  mov 24(%esp), %esi\n"                                    \
          "  mov 28(%esp), %ebx\n  mov 32(%esp), %ecx\n"                                    \
          "  xor %eax, %eax\n  xor %edx, %edx\n  xor %ebp, %ebp\n  " before "\n"            \
          "  .balign 32\n1:\n  " body "\n  " behind                                         \
          "\n  pop %ebp\n  pop %edi\n  pop %esi\n  pop %ebx\n  ret\n");
#else
#define LOOP(name, before, body, behind) static timed_loop *const loop_##name = NULL;
#endif

/* --- abrash97 --- */

/* Listing 21.1. */
LOOP(checksum, "", "addw (%esi), %ax; adcw $0, %ax; add $2, %esi; dec %ecx; jnz 1b", "")

/* Listing 21.1 with a 32-bit ADC. */
LOOP(checksum_adc, "", "addw (%esi), %ax; adc $0, %eax; add $2, %esi; dec %ecx; jnz 1b", "")

/* Listing 21.2: by bytes. The word after the last one is loaded too. */
LOOP(checksum_bytes, "movw (%esi), %dx; add $2, %esi",
     "add %dl, %al; movb (%esi), %dl;"
     "adc %dh, %ah; movb 1(%esi), %dh;"
     "adc $0, %eax; add $2, %esi;"
     "dec %ecx; jnz 1b", "")

/* Listing 21.3: two words an iteration, by bytes. */
LOOP(checksum_two, "xor %ebx, %ebx; movw (%esi), %dx; movb 2(%esi), %bl; shr %ecx",
     "movb 3(%esi), %bh; add $4, %esi;"
     "shl $16, %ebx;"
     "or %edx, %ebx; movb (%esi), %dl;"
     "add %ebx, %eax; movb 2(%esi), %bl;"
     "adc $0, %eax; movb 1(%esi), %dh;"
     "dec %ecx; jnz 1b", "")

/* Listing 21.4: two words at once. */
LOOP(checksum_dword, "mov (%esi), %edx; add $4, %esi; shr %ecx",
     "add %edx, %eax; mov (%esi), %edx;"
     "adc $0, %eax; add $4, %esi;"
     "dec %ecx; jnz 1b", "")

/* Listing 21.5: four words an iteration. */
LOOP(checksum_dwords, "mov (%esi), %edx; mov 4(%esi), %ebx; add $8, %esi; shr $2, %ecx",
     "add %edx, %eax; mov (%esi), %edx;"
     "adc %ebx, %eax; mov 4(%esi), %ebx;"
     "adc $0, %eax; add $8, %esi;"
     "dec %ecx; jnz 1b", "")

/* --- granlund03 --- */

/* Loops over eight words read the line that they will write, because a write does not fill it. */
#define FOUR_TIMES(text) ".irp at, 0, 8, 16, 24\n" text ".endr\n"

/* The sum of two numbers. EBP is the word of `other` that is added next. */
LOOP(add, "mov (%ebx), %ebp; shr $3, %ecx; test %ecx, %ecx",
     "mov 28(%edi), %eax; lea 32(%edi), %edi\n"
     FOUR_TIMES("mov \\at(%esi), %eax; mov \\at+4(%esi), %edx\n"
                "adc %ebp, %eax; mov \\at+4(%ebx), %ebp\n"
                "adc %ebp, %edx; mov \\at+8(%ebx), %ebp\n"
                "mov %eax, \\at-32(%edi); mov %edx, \\at-28(%edi)\n")
     "lea 32(%esi), %esi; lea 32(%ebx), %ebx; dec %ecx; jnz 1b", "")

/* A number times two. Each word is written after the next ones are loaded. */
#define TWO_DOUBLED(at, one, two, last)                        \
  "mov " #at "(%esi), " one "; mov " #at "+4(%esi), " two "\n" \
  "adc " one ", " one "; mov " last ", " #at "(%edi)\n"        \
  "adc " two ", " two "; mov " one ", " #at "+4(%edi)\n"
LOOP(double, "shr $3, %ecx; mov (%esi), %edx; lea 4(%esi), %esi; add %edx, %edx",
     "mov 28(%edi), %eax; mov %edx, %ebp\n"
     TWO_DOUBLED(0, "%eax", "%edx", "%ebp")
     TWO_DOUBLED(8, "%ebp", "%eax", "%edx")
     TWO_DOUBLED(16, "%edx", "%ebp", "%eax")
     TWO_DOUBLED(24, "%eax", "%edx", "%ebp")
     "lea 32(%esi), %esi; lea 32(%edi), %edi; dec %ecx; jnz 1b", "")

/* The words with all bits changed. ECX counts from -words to 0. */
LOOP(complement, "lea (%esi,%ecx,4), %esi; neg %ecx",
     "mov 28(%edi), %eax; add $32, %edi\n"
     FOUR_TIMES("mov \\at(%esi,%ecx,4), %eax; mov \\at+4(%esi,%ecx,4), %edx\n"
                "xor $-1, %eax; xor $-1, %edx\n"
                "mov %eax, \\at-32(%edi); mov %edx, \\at-28(%edi)\n")
     "add $8, %ecx; js 1b", "")

LOOP(copy, "lea (%edi,%ecx,4), %edi; neg %ecx",
     "mov 28(%edi,%ecx,4), %eax; add $8, %ecx\n"
     FOUR_TIMES("mov \\at(%esi), %eax; mov \\at+4(%esi), %edx\n"
                "mov %eax, \\at-32(%edi,%ecx,4); mov %edx, \\at-28(%edi,%ecx,4)\n")
     "lea 32(%esi), %esi; js 1b", "")

/* AND of two numbers, two words an iteration, from the last words to the first ones. The NOPs keep
 * the pairs as they are. `inverted` is empty, or changes all bits of the words of `other`.
 */
#define AND(inverted)                                                       \
  "and %ebp, %edx; nop\n"                                                   \
  "mov %eax, 4(%edi,%ecx,8); mov %edx, (%edi,%ecx,8)\n"                     \
  "2: mov -4(%esi,%ecx,8), %ebp; nop\n"                                     \
  "mov -4(%ebx,%ecx,8), %eax; mov -8(%ebx,%ecx,8), %edx\n" inverted         \
  "and %ebp, %eax; mov -8(%esi,%ecx,8), %ebp\n"                             \
  "dec %ecx; jnz 1b"
#define AND_LAST "and %ebp, %edx; mov %eax, 4(%edi); mov %edx, (%edi)"
LOOP(and, "shr %ecx; jmp 2f", AND(""), AND_LAST)
LOOP(andnot, "shr %ecx; jmp 2f", AND("xor $-1, %eax; xor $-1, %edx\n"), AND_LAST)

/* Sums of every third word. The carry of a sum goes to the next one. Returns the last carry. */
LOOP(thirds, "push %edi; xor %ebx, %ebx; xor %edi, %edi",
     "mov (%esi), %eax; mov 4(%esi), %edx\n"
     "adc %eax, %ebp; mov 8(%esi), %eax\n"
     "adc %edx, %ebx; lea 12(%esi), %esi\n"
     "adc %eax, %edi; lea -2(%ecx), %ecx\n"
     "dec %ecx; jg 1b",
     "sbb %eax, %eax; neg %eax; pop %edx\n"
     "mov %ebp, (%edx); mov %ebx, 4(%edx); mov %edi, 8(%edx)")

/* The number of ones in the words, two bytes an iteration. EBX and EDX are the last two bytes. */
LOOP(ones, "xor %ebx, %ebx; add %ecx, %ecx",
     "add %ebx, %eax; movb -1(%esi,%ecx,2), %bl\n"
     "add %edx, %eax; movb -2(%esi,%ecx,2), %dl\n"
     "movb ones(%ebx), %bl; dec %ecx\n"
     "movb ones(%edx), %dl; jnz 1b",
     "add %ebx, %eax; add %edx, %eax")

/* The number of bits in which two numbers differ. EDI is `other` here. */
LOOP(differing, "mov %ebx, %edi; xor %ebx, %ebx; add %ecx, %ecx",
     "add %ebx, %eax; movb -1(%esi,%ecx,2), %bl\n"
     "add %edx, %eax; movb -1(%edi,%ecx,2), %dl\n"
     "xor %dl, %bl; movb -2(%esi,%ecx,2), %dl\n"
     "xorb -2(%edi,%ecx,2), %dl; nop\n"
     "movb ones(%ebx), %bl; dec %ecx\n"
     "movb ones(%edx), %dl; jnz 1b",
     "add %ebx, %eax; add %edx, %eax")

/* A number divided by the first word of `other`. Returns the remainder. */
LOOP(divide, "mov (%ebx), %ebp",
     "mov -4(%esi,%ecx,4), %eax; div %ebp; mov %eax, -4(%edi,%ecx,4); dec %ecx; jnz 1b",
     "mov %edx, %eax")

/* SHLD by CL, and instructions that clear registers and pair with each other. An iteration repeats
 * this GROUP times. The count of iterations is on the stack, because all registers are in use.
 */
#define SHLD(clears)                                                             \
  ".rept 24; shld %cl, %eax, %ebx\n" clears ".endr\n"                            \
  "decl (%esp); jnz 1b"
#define SHLD_BEFORE \
  "mov %ecx, %eax; mov $24, %ecx; div %ecx; push %eax; mov $5, %ecx; mov $-1, %eax; xor %ebx, %ebx"
#define SHLD_BEHIND "pop %eax; mov %ebx, %eax"
LOOP(shld_two, SHLD_BEFORE, SHLD("xor %edx, %edx; xor %esi, %esi\n"), SHLD_BEHIND)
LOOP(shld_three, SHLD_BEFORE, SHLD("xor %edx, %edx; xor %esi, %esi; xor %edi, %edi\n"), SHLD_BEHIND)
LOOP(shld_four, SHLD_BEFORE,
     SHLD("xor %edx, %edx; xor %esi, %esi; xor %edi, %edi; xor %ebp, %ebp\n"), SHLD_BEHIND)

/* The loops for all processors, without care for pairs: one word after the other. */

#define ADD_WORD(at) \
  "mov " #at "(%esi), %eax; adc " #at "(%ebx), %eax; mov %eax, " #at "(%edi)\n"
LOOP(add_plain, "shr $3, %ecx; test %ecx, %ecx",
     ADD_WORD(0) ADD_WORD(4) ADD_WORD(8) ADD_WORD(12) ADD_WORD(16) ADD_WORD(20) ADD_WORD(24)
     ADD_WORD(28)
     "lea 32(%edi), %edi; lea 32(%esi), %esi; lea 32(%ebx), %ebx; dec %ecx; jnz 1b", "")

LOOP(copy_rep, "cld", "rep movsl", "")

LOOP(thirds_plain, "",
     "lea 12(%esi), %esi; lea -2(%ecx), %ecx;"
     "adc -12(%esi), %eax; adc -8(%esi), %edx; adc -4(%esi), %ebp;"
     "dec %ecx; jg 1b",
     "mov %eax, (%edi); mov %edx, 4(%edi); mov %ebp, 8(%edi); sbb %eax, %eax; neg %eax")

/* A number shifted by five bits, from the last word to the first one. Word 0 is not written. */
LOOP(shift, "mov %ecx, %edx; mov $5, %ecx; mov (%esi,%edx,4), %eax; sub $4, %esi",
     "mov (%esi,%edx,4), %ebx; shld %cl, %ebx, %eax; mov %eax, (%edi,%edx,4); dec %edx;"
     "mov (%esi,%edx,4), %eax; shld %cl, %eax, %ebx; mov %ebx, (%edi,%edx,4); dec %edx;"
     "jnz 1b", "")

/* --- vandorst95 --- */

/* The kernel measured this loop for a second or more, with interrupts of the clock in between. The
 * interrupts matter. A branch right behind a wrong prediction is not predicted (AGN-MA in
 * engine/p5/SOURCES.md), so after one wrong prediction a loop of one pair has only wrong ones. The
 * 2.4 million iterations of 120 words take longer than a clock tick.
 */
LOOP(delay, "imul $20000, %ecx, %eax", "dec %eax; jns 1b", "")

/* --- The same in C --- */

static const uint16_t *halves(const uint32_t *words) { return (const uint16_t *)words; }

/* Fold the carries into 16 bits: the sum of TCP/IP. */
static uint32_t folded(uint64_t sum) {
  while (sum >> 16) sum = (sum & 0xFFFF) + (sum >> 16);
  return (uint32_t)sum;
}

static int checksum_is(uint32_t result, long words) {
  uint64_t sum = 0;
  for (long i = 0; i < words; i++) sum += halves(data.from)[i];
  return folded(result) == folded(sum);
}

static int add_is(uint32_t result, long words) {
  uint64_t carry = 0;
  (void)result;
  for (long i = 0; i < words; i++) {
    carry += (uint64_t)data.from[i] + data.other[i];
    if (data.to[i] != (uint32_t)carry) return 0;
    carry >>= 32;
  }
  return 1;
}

static int double_is(uint32_t result, long words) {
  (void)result;
  for (long i = 0; i < words; i++)
    if (data.to[i] != (data.from[i] << 1 | (i ? data.from[i - 1] >> 31 : 0))) return 0;
  return 1;
}

#define WORDS_ARE(name, expression)                   \
  static int name##_is(uint32_t result, long words) { \
    (void)result;                                     \
    for (long i = 0; i < words; i++)                  \
      if (data.to[i] != (expression)) return 0;       \
    return 1;                                         \
  }
WORDS_ARE(complement, ~data.from[i])
WORDS_ARE(copy, data.from[i])
WORDS_ARE(and, data.from[i] & data.other[i])
WORDS_ARE(andnot, data.from[i] & ~data.other[i])

static int thirds_is(uint32_t result, long words) {
  uint32_t sums[3] = {0, 0, 0}, carry = 0;
  for (long i = 0; i < words; i++) {
    uint64_t sum = (uint64_t)sums[i % 3] + data.from[i] + carry;
    sums[i % 3] = (uint32_t)sum;
    carry = (uint32_t)(sum >> 32);
  }
  return result == carry && !memcmp(sums, data.to, sizeof(sums));
}

static uint32_t ones_of(const uint32_t *one, const uint32_t *other, long words) {
  uint32_t sum = 0;
  for (long i = 0; i < words; i++)
    sum += (uint32_t)__builtin_popcount(one[i] ^ (other ? other[i] : 0));
  return sum;
}

static int ones_is(uint32_t result, long words) {
  return result == ones_of(data.from, NULL, words);
}

static int differing_is(uint32_t result, long words) {
  return result == ones_of(data.from, data.other, words);
}

static int divide_is(uint32_t result, long words) {
  uint64_t left = 0;
  for (long i = words; i-- > 0;) {
    left = left << 32 | data.from[i];
    if (data.to[i] != (uint32_t)(left / data.other[0])) return 0;
    left %= data.other[0];
  }
  return result == (uint32_t)left;
}

static int shift_is(uint32_t result, long words) {
  (void)result;
  for (long i = 1; i <= words; i++)
    if (data.to[i] != (data.from[i] << 5 | data.from[i - 1] >> 27)) return 0;
  return 1;
}

/* Five ones come in with each repetition, and seven repetitions fill the register. */
static int shld_is(uint32_t result, long words) { return words >= 7 && result == 0xFFFFFFFF; }

static int delay_is(uint32_t result, long words) { return words > 0 && result == 0xFFFFFFFF; }

static const struct timed {
  uint32_t phase;
  timed_loop *run;
  int (*is)(uint32_t result, long words); /* the result is right */
} loops[] = {
    {1, loop_checksum, checksum_is},       {2, loop_checksum_adc, checksum_is},
    {3, loop_checksum_bytes, checksum_is}, {4, loop_checksum_two, checksum_is},
    {5, loop_checksum_dword, checksum_is}, {6, loop_checksum_dwords, checksum_is},
    {11, loop_add, add_is},                {12, loop_double, double_is},
    {13, loop_complement, complement_is},  {14, loop_copy, copy_is},
    {15, loop_and, and_is},                {16, loop_andnot, andnot_is},
    {17, loop_thirds, thirds_is},          {18, loop_ones, ones_is},
    {19, loop_differing, differing_is},    {20, loop_divide, divide_is},
    {21, loop_shld_two, shld_is},          {22, loop_shld_three, shld_is},
    {23, loop_shld_four, shld_is},         {24, loop_add_plain, add_is},
    {25, loop_copy_rep, copy_is},          {26, loop_thirds_plain, thirds_is},
    {27, loop_shift, shift_is},            {30, loop_delay, delay_is},
};

static const struct timed *current;
static long words = WORDS_MAX;

static void measure(void) {
  memset(data.to, 0, sizeof(data.to)); /* and not the words of the loop before */
  p5_begin(current->phase);
  uint32_t result = current->run(data.to, data.from, data.other, words);
  p5_end(current->phase);
  if (current->is(result, words)) return;
  fprintf(stderr, "timed-loops: wrong result of loop %u\n", current->phase);
  exit(P5W_EXIT_FAILED);
}

int main(int argc, char **argv) {
  long iterations = 3, warmup = 2;
  const struct p5w_option options[] = {
      {"words", "words that each loop works on, a multiple of 24, at most 240", &words, GROUP,
       NULL},
      P5W_ITERATIONS(iterations, warmup),
      {0}};
  p5w_start(argc, argv, options);
  if (!loops[0].run) {
    fprintf(stderr, "not a program for i386: nothing to measure\n");
    return P5W_EXIT_UNAVAILABLE;
  }
  if (words % GROUP || words > WORDS_MAX) {
    fprintf(stderr, "%s: words must be a multiple of %d, and at most %d\n", argv[0], GROUP,
            WORDS_MAX);
    return P5W_EXIT_USAGE;
  }

  for (int i = 0; i < 256; i++) ones[i] = (uint8_t)__builtin_popcount((unsigned)i);
  for (int i = 0; i < WORDS_MAX + WORDS_AFTER; i++) {
    data.from[i] = 0x9E3779B9u * (uint32_t)(i + 1);
    data.other[i] = 0x85EBCA6Bu * (uint32_t)(i + 1);
  }
  for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
    current = &loops[i];
    p5w_repeat(measure, warmup, iterations);
  }
  return 0;
}
