// SPDX-License-Identifier: MIT
/*
 * test-ud: executes one instruction that a Pentium does not have. The run must fail and report the
 * address of the instruction. The run may succeed only if the machine's ISA level includes the
 * instruction (cmov, fcmov, fcomi, nopl at pentium+cmov).
 */
#include "p5w.h"

enum instruction { CMOV, FCMOV, FCOMI, NOPL, MMX, SSE, SYSENTER, RDPMC };
static const char *const names[] = {"cmov", "fcmov",    "fcomi", "nopl", "mmx",
                                    "sse",  "sysenter", "rdpmc", NULL};

int main(int argc, char **argv) {
  long instruction = CMOV;
  const struct p5w_option options[] = {
      {"instruction", "which one", &instruction, 0, names}, {0}};
  p5w_start(argc, argv, options);

  switch (instruction) {
  case CMOV: __asm__ volatile("cmp %eax, %eax\n\tcmovne %eax, %ecx"); break;
  case FCMOV: __asm__ volatile("fldz\n\tfcmove %st(0), %st\n\tfstp %st(0)"); break;
  case FCOMI: __asm__ volatile("fldz\n\tfcomi %%st(0), %%st\n\tfstp %%st(0)" ::: "cc"); break;
  case NOPL: __asm__ volatile("nopl 0(%eax)"); break;
  case MMX: __asm__ volatile("emms"); break;
  case SSE: __asm__ volatile("xorps %xmm0, %xmm0"); break;
  case SYSENTER: __asm__ volatile("sysenter"); break;
  case RDPMC: __asm__ volatile("rdpmc" ::: "eax", "edx"); break;
  }
  printf("%s was executed\n", names[instruction]);
  return 0;
}
