/* SPDX-License-Identifier: MIT */
/*
 * dpmi32: the system calls of int21 from 32-bit protected mode, as a client of a DPMI host. Phases
 * 3259 and 3235 bracket one call each. The measured code is in a 32-bit code segment with the same
 * base as the program's own.
 */
#include "dpmi.h"

/* Declares NAME(), which calls NAME_code in the 32-bit segment. */
#define IN_32_BITS(name, before, instructions, after)                                            \
  void name(void);                                                                               \
  __asm__(".code32\n" #name "_code:\n  pushal\n  pushl %ds\n  pushl %es\n" before instructions   \
          after "\n  popl %es\n  popl %ds\n  popal\n  lretl\n.code16\n" #name                     \
          ":\n  movl $" #name "_code, far_code\n  lcalll *far_code\n  retl\n")
#define BRACKET_32(name, phase, instructions) \
  IN_32_BITS(name, "  begin " #phase "\n", instructions, "\n  end " #phase "\n")

#define GET_ERROR_32 "  movb $0x59, %ah\n  xorl %ebx, %ebx\n  int $0x21"
#define GET_VECTOR_32 "  movw $0x3521, %ax\n  int $0x21"
__asm__("far_code: .long 0\nfar_segment: .word 0\n");
extern volatile uint16_t far_segment;

BRACKET_32(get_error, 3259, GET_ERROR_32);
IN_32_BITS(warm_error, "", GET_ERROR_32, "");
BRACKET_32(get_vector, 3235, GET_VECTOR_32);
IN_32_BITS(warm_vector, "", GET_VECTOR_32, "");

/* A function of the DPMI host. Returns AX. */
static uint16_t host(uint16_t function, uint16_t bx, uint32_t cx_dx) {
  uint8_t failed;
  uint16_t ax = function, cx = (uint16_t)(cx_dx >> 16), dx = (uint16_t)cx_dx;
  __asm__ volatile("int $0x31\n\tsetc %3"
                   : "+a"(ax), "+c"(cx), "+d"(dx), "=m"(failed)
                   : "b"(bx)
                   : "memory", "cc");
  if (failed) fail("the DPMI host refuses a code segment of 32 bits");
  return ax;
}

/* Make a descriptor for 32-bit code with the base of CS. */
static void make_segment(void) {
  uint16_t cs, high, low, segment = host(0x0000, 0, 1u << 16);
  uint32_t rights;
  __asm__ volatile("movw %%cs, %0\n\tmovl $6, %%eax\n\tmovw %0, %%bx\n\tint $0x31"
                   : "=&r"(cs), "=c"(high), "=d"(low)
                   :
                   : "eax", "ebx", "memory", "cc");
  __asm__("movzwl %1, %0\n\tlarl %0, %0" : "=r"(rights) : "r"(cs));
  host(0x0007, segment, (uint32_t)high << 16 | low);
  host(0x0008, segment, 0xFFFF);
  host(0x0009, segment, (0x4000 | (rights >> 8 & 0xFF)) << 16);
  far_segment = segment;
}

static void run(void) {
  uint32_t iterations = PARAMETER(iterations), warmup = PARAMETER(warmup);
  name_phase(3259, "INT 21h 59h, 32-bit DPMI");
  name_phase(3235, "INT 21h 35h, 32-bit DPMI");
  if (!become_client(DPMI_32)) return;
  make_segment();
  repeat(warm_error, get_error, warmup, iterations);
  repeat(warm_vector, get_vector, warmup, iterations);
}
