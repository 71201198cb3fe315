/* SPDX-License-Identifier: MIT */
/*
 * The markers on gem5, in place of the engine's CPUID: gem5's pseudo-instructions, 0F 04 and a
 * 16-bit number, arguments in RDI, RSI, RDX and RCX, result in RAX (gem5, "m5ops", x86). Included by
 * marker.h; programs for x86-64 only, because gem5 boots no kernel of 32 bits.
 *
 * A processor that is not gem5's refuses these instructions, so that they are never tried: the
 * environment variable P5LAB_MARKERS says m5, and init has it from the kernel's command line.
 *
 *   ready          checkpoint
 *   begin, end     work item begin and end, its identity the phase
 *   exit           exit with status 0, else fail with the status
 *   abort          fail with M5_ABORTED | code
 *   job            first line of the file that gem5 was given to be read; program: what follows it
 *   output         appended to the file M5_OUTPUT in gem5's output directory
 *   read-counter   always 0
 *
 * gem5 reaches the memory of these calls behind the program's back, and only where there is a page
 * already: it must have been touched before.
 */
#ifndef P5LAB_M5_H
#define P5LAB_M5_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && !defined(P5LAB_NATIVE)
static int m5_enabled;

/* Look into the environment: use them, or no markers at all (returns 0), or look for the engine. */
static inline int m5_start(void) {
  const char *markers = getenv("P5LAB_MARKERS");
  m5_enabled = markers && strcmp(markers, "m5") == 0;
  return !markers || strcmp(markers, "none") != 0;
}
#else
#define m5_enabled 0
#define m5_start() 1
#endif

#define M5_OUTPUT "output.log"
#define M5_ABORTED 0x10000u

#define M5_EXIT 0x21       /* delay in ns */
#define M5_FAIL 0x22       /* delay in ns, code */
#define M5_CHECKPOINT 0x43 /* delay and period in ns */
#define M5_WRITE_FILE 0x4F /* bytes, count, offset, file name */
#define M5_READ_FILE 0x50  /* bytes, count, offset; result: how many there were */
#define M5_WORK_BEGIN 0x5A /* work item, thread */
#define M5_WORK_END 0x5B   /* work item, thread */

/* A macro, because the number of the operation is part of the instruction. */
#define M5_CALL(operation, rdi, rsi, rdx, rcx)                                         \
  __extension__({                                                                      \
    uintptr_t m5_result;                                                               \
    __asm__ volatile(".byte 0x0F, 0x04\n\t.word %c[number]"                            \
                     : "=a"(m5_result)                                                 \
                     : [number] "i"(operation), "D"((uintptr_t)(rdi)),                 \
                       "S"((uintptr_t)(rsi)), "d"((uintptr_t)(rdx)), "c"((uintptr_t)(rcx)) \
                     : "memory");                                                      \
    m5_result;                                                                         \
  })

/* What marker.h does by CPUID otherwise. */
static inline void m5_marker(enum p5_operation operation, uint32_t argument) {
  switch (operation) {
  case P5_OP_READY: M5_CALL(M5_CHECKPOINT, 0, 0, 0, 0); break;
  case P5_OP_BEGIN: M5_CALL(M5_WORK_BEGIN, argument, 0, 0, 0); break;
  case P5_OP_END: M5_CALL(M5_WORK_END, argument, 0, 0, 0); break;
  case P5_OP_ABORT: M5_CALL(M5_FAIL, 0, M5_ABORTED | argument, 0, 0); break;
  case P5_OP_EXIT:
    if (argument == 0)
      M5_CALL(M5_EXIT, 0, 0, 0, 0);
    else
      M5_CALL(M5_FAIL, 0, argument, 0, 0);
    break;
  default: break;
  }
}

static size_t m5_program; /* where in the file the delivered program begins; 0: there is none */

/* Copy the first line of the file, cut to `size` bytes with its NUL, to `text`; return its length. */
static inline size_t m5_job(char *text, size_t size) {
  memset(text, '\n', size);
  size_t length = M5_CALL(M5_READ_FILE, text, size - 1, 0, 0);
  const char *end = memchr(text, '\n', size);
  m5_program = (size_t)(end - text) < length ? (size_t)(end - text) + 1 : 0;
  text[end - text] = '\0';
  return (size_t)(end - text);
}

/* Copy up to `size` bytes of the delivered program from `offset`; return how many there were. */
static inline size_t m5_read_program(uint32_t offset, char *bytes, size_t size) {
  memset(bytes, 0, size);
  return m5_program ? M5_CALL(M5_READ_FILE, bytes, size, m5_program + offset, 0) : 0;
}

/* `bytes` have been written by the program, which has touched their pages. */
static inline void m5_output(const char *bytes, size_t length) {
  static size_t written;
  char name[] = M5_OUTPUT; /* on the stack, where there is a page */
  if (length > 0) written += M5_CALL(M5_WRITE_FILE, bytes, length, written, name);
}

#endif
