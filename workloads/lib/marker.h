/* SPDX-License-Identifier: MIT */
/*
 * Markers: a guest program's interface to the engine. C99, header only, i386 and x86-64.
 *
 * A marker is one unprivileged CPUID with a leaf number that no processor uses. A marker costs
 * nothing: it does not count as an instruction, takes no cycle and accesses no cache. (The few
 * moves that load its operands are ordinary instructions.) On a machine that does not answer
 * P5_OP_DETECT, every function here does nothing, so that the same program runs on a real host. On
 * gem5 the markers are gem5's own instructions (m5.h).
 *
 *   in:  EAX = P5_MARKER_LEAF, ECX = operation, EDX = arg0, ESI = arg1
 *   out: EAX, EBX, ECX, EDX as listed for each operation
 */
#ifndef P5LAB_MARKER_H
#define P5LAB_MARKER_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "marker_numbers.h"

struct p5_registers {
  uint32_t eax, ebx, ecx, edx;
};

static int p5_marker_enabled;

#include "m5.h"

#ifdef P5LAB_NATIVE
#include "native.h" /* p5_marker() for programs that run measured on a real host */
#else
static inline struct p5_registers p5_marker(uint32_t operation, uint32_t arg0, uint32_t arg1) {
  struct p5_registers out = {0, 0, 0, 0};
  if (m5_enabled) {
    m5_marker(operation, arg0);
    return out;
  }
  __asm__ volatile("cpuid"
                   : "=a"(out.eax), "=b"(out.ebx), "=c"(out.ecx), "=d"(out.edx)
                   : "a"(P5_MARKER_LEAF), "c"(operation), "d"(arg0), "S"(arg1)
                   : "memory");
  return out;
}
#endif

/* Look for the engine. Call this once before any other function. Returns 1 if markers work, else 0.
 */
static inline int p5_marker_init(void) {
  if (!m5_start()) return 0;
  if (m5_enabled) return p5_marker_enabled = 1;
  struct p5_registers out = p5_marker(P5_OP_DETECT, 0, 0);
  p5_marker_enabled = out.eax == P5_MARKER_ABI && out.ebx == P5_MARKER_MAGIC;
  return p5_marker_enabled;
}

static inline void p5_ready(void) {
  if (p5_marker_enabled) p5_marker(P5_OP_READY, 0, 0);
}

/* Begin and end of a measured phase. The k-th pair of a phase is its iteration k, counted from 0.
 * Pairs of different phases may be nested. An unbalanced pair makes the run fail.
 */
static inline void p5_begin(uint32_t phase) {
  if (p5_marker_enabled) p5_marker(P5_OP_BEGIN, phase, 0);
}

static inline void p5_end(uint32_t phase) {
  if (p5_marker_enabled) p5_marker(P5_OP_END, phase, 0);
}

/* Declare that the run has failed, and end the run. Returns only if there are no markers. */
static inline void p5_abort(uint32_t code) {
  if (p5_marker_enabled) p5_marker(P5_OP_ABORT, code, 0);
}

/* End the run. Returns only if there are no markers. */
static inline void p5_exit(uint32_t status) {
  if (p5_marker_enabled) p5_marker(P5_OP_EXIT, status, 0);
}

/* Count of the event with this index in the events.jsonl header, summed over all rings; 0 without
 * markers and on gem5.
 */
static inline uint64_t p5_read_counter(uint32_t event) {
  if (!p5_marker_enabled) return 0;
  struct p5_registers out = p5_marker(P5_OP_READ_COUNTER, event, 0);
  return (uint64_t)out.edx << 32 | out.eax;
}

/* Copy the job text to `text`, at most `size` bytes including the NUL. Returns the length of the
 * copy.
 */
static inline size_t p5_job(char *text, size_t size) {
  if (m5_enabled) return m5_job(text, size);
  size_t length = 0;
  while (p5_marker_enabled && length + 1 < size) {
    struct p5_registers out = p5_marker(P5_OP_JOB, (uint32_t)length, 0);
    uint32_t words[3] = {out.ebx, out.ecx, out.edx};
    const char *bytes = (const char *)words;
    for (size_t i = 0; i < sizeof(words) && length + 1 < size; i++) {
      if (bytes[i] == '\0') {
        text[length] = '\0';
        return length;
      }
      text[length++] = bytes[i];
    }
  }
  text[length] = '\0';
  return length;
}

/* Copy up to 12 bytes of the delivered program file from `offset` to `bytes`. Returns the number of
 * bytes; 0 at the file's end, and if no program was delivered.
 */
static inline size_t p5_program(uint32_t offset, char bytes[12]) {
  if (!p5_marker_enabled) return 0;
  if (m5_enabled) return m5_read_program(offset, bytes, 12);
  struct p5_registers out = p5_marker(P5_OP_PROGRAM, offset, 0);
  uint32_t words[3] = {out.ebx, out.ecx, out.edx};
  memcpy(bytes, words, sizeof(words));
  return out.eax;
}

/* Append bytes to the program output that the engine records. Stream 1 is stdout, 2 is stderr. */
static inline void p5_output(uint32_t stream, const char *bytes, size_t length) {
  if (!p5_marker_enabled) return;
  if (m5_enabled) {
    m5_output(bytes, length);
    return;
  }
  for (size_t offset = 0; offset < length; offset += 4) {
    uint32_t count = length - offset < 4 ? (uint32_t)(length - offset) : 4;
    uint32_t word = 0;
    for (uint32_t i = 0; i < count; i++)
      word |= (uint32_t)(unsigned char)bytes[offset + i] << (8 * i);
    p5_marker(P5_OP_OUTPUT, word, count | stream << 8);
  }
}

#endif
