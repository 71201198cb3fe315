/* SPDX-License-Identifier: MIT */
/*
 * The markers on gem5. They use gem5's pseudo-instructions instead of the engine's CPUID. Such an
 * instruction is 0F 04 and a 16-bit number, with arguments in RDI, RSI, RDX and RCX and the result
 * in RAX (gem5, "m5ops", x86). marker.h includes this file for x86-64 programs only, because gem5
 * boots no 32-bit kernel.
 *
 * On any other processor these instructions raise a fault, so a program must not try them. A
 * program uses these instructions if the environment variable P5LAB_MARKERS is m5. init sets this
 * variable from the kernel's command line.
 *
 *   ready          checkpoint
 *   begin, end     work item begin and end, with the phase as its number
 *   exit           exit with status 0, else fail with the status
 *   abort          fail with M5_ABORTED | code
 *   job            first line of gem5's input file (readfile); program: the rest of that file
 *   output         appended to the file M5_OUTPUT in gem5's output directory
 *   read-counter   always 0
 *
 * gem5 accesses the memory of these calls directly, without page faults. The program must therefore
 * touch the pages before the call.
 */
#ifndef P5LAB_M5_H
#define P5LAB_M5_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) && !defined(P5LAB_NATIVE)
static int m5_enabled;

/* Read from the environment which markers to use: the markers of gem5, no markers (returns 0), or
 * the markers of the engine if there is an engine.
 */
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
#define M5_READ_FILE 0x50  /* bytes, count, offset; result: number of bytes read */
#define M5_WORK_BEGIN 0x5A /* work item, thread */
#define M5_WORK_END 0x5B   /* work item, thread */

/* This is a macro, because the number of the operation is part of the instruction. */
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

/* Carry out a marker that marker.h would execute as a CPUID. */
static inline void m5_marker(uint32_t operation, uint32_t argument) {
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

static size_t m5_program; /* offset of the delivered program in the file; 0: there is none */

/* Copy the first line of the file to `text`, at most `size` bytes including the NUL. Returns its
 * length.
 */
static inline size_t m5_job(char *text, size_t size) {
  memset(text, '\n', size);
  size_t length = M5_CALL(M5_READ_FILE, text, size - 1, 0, 0);
  const char *end = memchr(text, '\n', size);
  m5_program = (size_t)(end - text) < length ? (size_t)(end - text) + 1 : 0;
  text[end - text] = '\0';
  return (size_t)(end - text);
}

/* Copy up to `size` bytes of the delivered program from `offset`. Returns the number of bytes. */
static inline size_t m5_read_program(uint32_t offset, char *bytes, size_t size) {
  memset(bytes, 0, size);
  return m5_program ? M5_CALL(M5_READ_FILE, bytes, size, m5_program + offset, 0) : 0;
}

/* The pages of `bytes` are present, because the program has written them. */
static inline void m5_output(const char *bytes, size_t length) {
  static size_t written;
  char name[] = M5_OUTPUT; /* on the stack, so that its page is present */
  if (length > 0) written += M5_CALL(M5_WRITE_FILE, bytes, length, written, name);
}

#endif
