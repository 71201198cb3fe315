// SPDX-License-Identifier: MIT
/*
 * int-iret: INT through an interrupt gate to ring 0 and IRET back, each alone and both together.
 * Then the program measures INT and IRET while the L1 data cache does not contain their data
 * (chen95 section 4.1 quotes 48 and 27 cycles). The driver /dev/p5ctr provides the gates. The
 * handler of these gates contains the markers between INT and IRET.
 *
 * Phase 0: from directly before INT to the handler. Phase 1: from directly before IRET to the
 * program. Phase 2: INT and IRET. Phases 3 and 4: the same as 0 and 1, with an empty L1D.
 */
#define P5W_EMPTY_BRACKET empty_bracket
#include "counters.h"

#define L1D_BYTES (8 << 10)
#define LINE 32

static volatile char other[2 * L1D_BYTES];

/* During the warm-up, when the markers are off, every CPUID is an ordinary CPUID. */
static uint32_t marker_leaf(void) { return p5_marker_enabled ? P5_MARKER_LEAF : 0; }

#define STRING(number) #number
#define EXPANDED_STRING(number) STRING(number)
#define GATE(vector) "int $" EXPANDED_STRING(vector) "\n\t"

#define OPERANDS(operation) \
  "movl %%esi, %%eax\n\tmovl %[" operation "], %%ecx\n\tmovl %[phase], %%edx\n\t"

/* Begin of `phase_`, the instructions `gate`, and a marker. The marker is the end of `phase_` if
 * the handler has not ended this phase. If the handler has ended `phase_`, the handler returns the
 * operands that end phase `returning`, and the marker is the end of `returning`. NEG pairs with no
 * instruction, so that loading the markers' operands costs the same in all brackets.
 */
#define BRACKET(phase_, gate, returning)                                                      \
  do {                                                                                        \
    uint32_t leaf = marker_leaf(), after = (returning);                                       \
    __asm__ volatile("negl %%ebx\n\t" OPERANDS("begin") "cpuid\n\t" OPERANDS("end") gate      \
                     "cpuid"                                                                  \
                     : "+S"(leaf), "+D"(after)                                                \
                     : [phase] "i"(phase_), [begin] "i"(P5_OP_BEGIN), [end] "i"(P5_OP_END)    \
                     : "eax", "ebx", "ecx", "edx", "cc", "memory");                           \
  } while (0)

static void empty_bracket(void) { BRACKET(P5_PHASE_EMPTY, "", 0); }

static void empty_l1d(void) {
  for (size_t at = 0; at < sizeof(other); at += LINE) (void)other[at];
}

static void iteration(void) {
  BRACKET(0, GATE(P5CTR_GATE_MARK), 1);
  BRACKET(2, GATE(P5CTR_GATE_RETURN), 0);
  empty_l1d();
  BRACKET(3, GATE(P5CTR_GATE_MARK), 4);
}

/* Give up unless both gates return the registers as documented. */
static void check_gates(void) {
  uint32_t eax = 1, ebx = 2, ecx = 3, edx = 4, esi = 0, edi = 6;
  __asm__ volatile(GATE(P5CTR_GATE_RETURN)
                   : "+a"(eax), "+b"(ebx), "+c"(ecx), "+d"(edx), "+S"(esi), "+D"(edi));
  int kept = eax == 1 && ebx == 2 && ecx == 3 && edx == 4 && esi == 0 && edi == 6;
  eax = 0; /* EAX = 0: an ordinary CPUID. ESI = 0 does the same for the other CPUID. */
  __asm__ volatile(GATE(P5CTR_GATE_MARK)
                   : "+a"(eax), "+b"(ebx), "+c"(ecx), "+d"(edx), "+S"(esi), "+D"(edi));
  if (!kept || eax != 0 || ecx != P5CTR_MARK_END || edx != 6 || esi != 0 || edi != 6) {
    fprintf(stderr, "int-iret: a gate of %s did not keep the registers\n", P5CTR_DEVICE);
    exit(P5W_EXIT_FAILED);
  }
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  int device = counters_open();
  if (ioctl(device, P5CTR_GATES) != 0) {
    fprintf(stderr, "%s: no gates here: %s\n", P5CTR_DEVICE, strerror(errno));
    return P5W_EXIT_UNAVAILABLE;
  }
  check_gates();

  p5w_repeat(iteration, warmup, iterations);
  return 0;
}
