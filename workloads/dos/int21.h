/* SPDX-License-Identifier: MIT */
/* The two system calls of DOS that chen95 measures (section 4.2), for code of 16 bits. */
#ifndef P5LAB_DOS_INT21_H
#define P5LAB_DOS_INT21_H

#include "dos.h"

#define GET_ERROR "  movb $0x59, %ah\n  xorw %bx, %bx\n  int $0x21"
#define GET_VECTOR "  movw $0x3521, %ax\n  int $0x21"

/* Call a function `warmup` times without and `iterations` times with markers. */
static void repeat(void (*warm)(void), void (*measured)(void), uint32_t warmup,
                   uint32_t iterations) {
  for (uint32_t i = 0; i < warmup; i++) warm();
  for (uint32_t i = 0; i < iterations; i++) measured();
}

#endif
