/* SPDX-License-Identifier: MIT */
/*
 * A client of a DPMI host (DPMI specification 0.9): a program that DOS starts and that runs in
 * protected mode. chen95's programs for Windows ran so.
 */
#ifndef P5LAB_DOS_DPMI_H
#define P5LAB_DOS_DPMI_H

#include "int21.h"

enum { DPMI_16, DPMI_32 }; /* kinds of clients */

static uint32_t host_entry;
static uint16_t host_paragraphs, host_segment;

/* Look for a host. Returns 0 if there is none for clients of this kind. */
static int find_host(int kind) {
  uint16_t answer = 0x1687, flags, paragraphs, segment, offset;
  __asm__ volatile(
      "pushw %%es\n\tint $0x2F\n\tmovw %%es, %%dx\n\tpopw %%es\n\tmovzwl %%sp, %%esp"
      : "+a"(answer), "=b"(flags), "=S"(paragraphs), "=D"(offset), "=d"(segment)
      :
      : "ecx", "memory", "cc");
  if (answer != 0 || (kind == DPMI_32 && !(flags & 1))) return 0;
  host_paragraphs = paragraphs;
  host_entry = (uint32_t)segment << 16 | offset;
  return 1;
}

/* Change to protected mode. CS, DS, ES and SS then select the segment of the program. */
static void enter_protected_mode(int kind) {
  uint16_t failed = (uint16_t)kind;
  if (host_paragraphs) host_segment = must("memory of the host", ALLOCATE, host_paragraphs, 0, NULL);
  __asm__ volatile(
      "movw %2, %%es\n\tlcallw *%1\n\tmovw %%ds, %%bx\n\tmovw %%bx, %%es\n\t"
      "movzwl %%sp, %%esp\n\tsbbw %%ax, %%ax"
      : "+a"(failed)
      : "m"(host_entry), "r"(host_segment)
      : "ebx", "ecx", "edx", "esi", "edi", "memory", "cc");
  if (failed) fail("the DPMI host refuses the change to protected mode");
}

/* The program's work: find the host, change the mode, and say so if there is no host. */
static int become_client(int kind) {
  if (!find_host(kind)) {
    say("no DPMI host for this kind of client\n");
    return 0;
  }
  keep_one_segment();
  enter_protected_mode(kind);
  return 1;
}

#endif
