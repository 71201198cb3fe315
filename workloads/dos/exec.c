/* SPDX-License-Identifier: MIT */
/*
 * exec: start a trivial program and wait for its end (chen95 section 4.3, figure 3). DOS has no
 * processes: function 4B00h loads the program into the same memory. Phase 75 (4Bh) brackets one
 * call. The program is in the current directory.
 */
#include "dos.h"

/* DOS may change every register except CS and IP. */
#define EXEC                     \
  "  movw %ss, %cs:exec_stack\n" \
  "  movw %sp, %cs:exec_stack + 2\n" \
  "  movw $exec_name, %dx\n"     \
  "  movw $exec_block, %bx\n"    \
  "  movw $0x4B00, %ax\n"        \
  "  int $0x21\n"                \
  "  movw %cs:exec_stack, %ss\n" \
  "  movw %cs:exec_stack + 2, %sp\n" \
  "  setc %cs:exec_failed\n"
BRACKET(exec, 75, EXEC);
WITHOUT_MARKERS(warm_exec, EXEC);
__asm__(
    "exec_name: .asciz \"CHILD.COM\"\n"
    "exec_tail: .byte 0, 13\n"
    "exec_stack: .word 0, 0\n"
    "exec_failed: .byte 0\n"
    "exec_block: .word 0, exec_tail, 0, 0x5C, 0, 0x6C, 0\n");
extern uint16_t exec_block[];
extern volatile uint8_t exec_failed;

static void run(void) {
  uint32_t iterations = PARAMETER(iterations), warmup = PARAMETER(warmup);
  uint16_t segment;
  __asm__("movw %%cs, %0" : "=r"(segment));
  exec_block[2] = exec_block[4] = exec_block[6] = segment;
  name_phase(75, "exec");
  keep_one_segment();
  for (uint32_t i = 0; i < warmup; i++) warm_exec();
  for (uint32_t i = 0; i < iterations; i++) exec();
  if (exec_failed) fail("exec: CHILD.COM cannot be started");
}
