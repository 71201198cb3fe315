/* SPDX-License-Identifier: MIT */
/*
 * Fill and copy as in the C libraries of 1995 for the i386 family (FreeBSD 2, Linux libc 5):
 * repeated string instructions, first for words, then for the remaining bytes. lai96 and talagala97
 * measured such routines. A C library or compiler of today would use other code.
 */
#ifndef P5LAB_STRING1995_H
#define P5LAB_STRING1995_H

#include <stddef.h>
#include <stdint.h>

static inline void memset_1995(void *to, int byte, size_t size) {
  size_t rest;
  __asm__ volatile(
      "mov %[count], %[rest]\n\t"
      "shr $2, %[count]\n\t"
      "cld\n\t"
      "rep stosl\n\t"
      "mov %[rest], %[count]\n\t"
      "and $3, %[count]\n\t"
      "rep stosb"
      : "+D"(to), [count] "+c"(size), [rest] "=&r"(rest)
      : "a"((uint8_t)byte * 0x01010101u)
      : "memory", "cc");
}

static inline void memcpy_1995(void *to, const void *from, size_t size) {
  size_t rest;
  __asm__ volatile(
      "mov %[count], %[rest]\n\t"
      "shr $2, %[count]\n\t"
      "cld\n\t"
      "rep movsl\n\t"
      "mov %[rest], %[count]\n\t"
      "and $3, %[count]\n\t"
      "rep movsb"
      : "+D"(to), "+S"(from), [count] "+c"(size), [rest] "=&r"(rest)
      :
      : "memory", "cc");
}

#endif
