// SPDX-License-Identifier: MIT
/* test-ud: executes CMOV, which a Pentium does not have: the run must fail with its address. */
#include <stdio.h>

int main(void) {
  int value = 1;
  __asm__ volatile("cmp %0, %0\n\tcmove %1, %0" : "+r"(value) : "r"(2) : "cc");
  printf("CMOV was executed, result %d\n", value);
  return 0;
}
