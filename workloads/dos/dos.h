/* SPDX-License-Identifier: MIT */
/*
 * Programs for DOS in 16-bit real mode: the start, the calls of DOS, the markers and the job. Each
 * program is one C file that defines run(). The compiler makes code for real mode with 32-bit
 * registers. Code, data and stack are in one segment (com.ld).
 *
 * The brackets contain no code of the compiler: the measured instructions and both markers are one
 * piece of assembly language. workloads/lib/p5w.h is the same for the programs of our own guests.
 */
#ifndef P5LAB_DOS_H
#define P5LAB_DOS_H

#include <stddef.h>
#include <stdint.h>

#include "../lib/marker_numbers.h"

#define EMPTY_BRACKETS 10
#define JOB_BYTES 256
#define QUOTED(text) #text
#define NUMBER(name) QUOTED(name) /* for assembly language */

static void run(void);

__asm__(
    ".section .start, \"ax\"\n"
    ".globl _start\n"
    "_start:\n"
    "  cld\n"
    "  movzwl %sp, %esp\n"
    "  xorl %eax, %eax\n"
    "  movl $bss, %edi\n"
    "  movl $bss_end, %ecx\n"
    "  subl %edi, %ecx\n"
    "  rep stosb\n"
    "  calll dos_main\n"
    "  movw $0x4C00, %ax\n"
    "  int $0x21\n"
    ".text\n"
    /* Markers with immediate operands, for brackets in assembly language. They change EAX, EBX, ECX
     * and EDX. */
    ".macro begin phase\n"
    "  movl $" NUMBER(P5_MARKER_LEAF) ", %eax\n"
    "  movl $" NUMBER(P5_OP_BEGIN) ", %ecx\n"
    "  movl $\\phase, %edx\n"
    "  cpuid\n"
    ".endm\n"
    ".macro end phase\n"
    "  movl $" NUMBER(P5_MARKER_LEAF) ", %eax\n"
    "  movl $" NUMBER(P5_OP_END) ", %ecx\n"
    "  movl $\\phase, %edx\n"
    "  cpuid\n"
    ".endm\n");

/* The compiler addresses the stack by ESP, and 16-bit code of a BIOS or of DOS may leave anything in
 * its upper half. */
#define WHOLE_ESP "movzwl %sp, %esp"

/* Declares NAME(), which executes the instructions in a bracket. They may change every register
 * except SS and ESP, also DS and ES, as calls of DOS do. */
#define BRACKET(name, phase, instructions)                                                       \
  void name(void);                                                                               \
  __asm__(#name ":\n  pushal\n  pushw %ds\n  pushw %es\n  begin " NUMBER(phase) "\n" instructions \
                "\n  end " NUMBER(phase) "\n  popw %es\n  popw %ds\n  popal\n  " WHOLE_ESP "\n  retl\n")
/* The same without markers, for the warm-up. */
#define WITHOUT_MARKERS(name, instructions)                                               \
  void name(void);                                                                        \
  __asm__(#name ":\n  pushal\n  pushw %ds\n  pushw %es\n" instructions                    \
                "\n  popw %es\n  popw %ds\n  popal\n  " WHOLE_ESP "\n  retl\n")

BRACKET(empty_bracket, P5_PHASE_EMPTY, "");

static inline uint32_t marker(uint32_t operation, uint32_t argument, const void *text,
                              uint32_t length) {
  uint32_t answer = P5_MARKER_LEAF;
  __asm__ volatile("cpuid"
                   : "+a"(answer), "+c"(operation), "+d"(argument), "+b"(length)
                   : "S"(text), "D"(text)
                   : "memory");
  return answer;
}

static inline uint32_t length_of(const char *text) {
  uint32_t length = 0;
  while (text[length]) length++;
  return length;
}

static inline int is_same(const char *a, const char *b, uint32_t length) {
  while (length--)
    if (*a++ != *b++) return 0;
  return 1;
}

/* Give a text to the engine. */
static inline void say(const char *text) { marker(P5_OP_TEXT, length_of(text), text, 0); }

/* End the run with status 1. The last line of the text is part of p5lab's message. */
static inline _Noreturn void fail(const char *why) {
  say(why);
  say("\n");
  marker(P5_OP_EXIT, 1, NULL, 0);
  for (;;) {
  }
}

static inline void name_phase(uint32_t phase, const char *name) {
  if (!marker(P5_OP_NAME, phase, name, length_of(name))) fail(name);
}

static inline void begin(uint32_t phase) { marker(P5_OP_BEGIN, phase, NULL, 0); }
static inline void end(uint32_t phase) { marker(P5_OP_END, phase, NULL, 0); }

/* Registers of a call of DOS. `carry`: DOS reports an error in AX. */
struct call {
  uint16_t ax, bx, cx, dx;
  int carry;
};

static inline struct call dos(uint16_t ax, uint16_t bx, uint16_t cx, const void *dx) {
  struct call call = {ax, bx, cx, (uint16_t)(uintptr_t)dx, 0};
  uint8_t carry;
  __asm__ volatile("int $0x21\n\tmovzwl %%sp, %%esp\n\tsetc %4"
                   : "+a"(call.ax), "+b"(call.bx), "+c"(call.cx), "+d"(call.dx), "=m"(carry)
                   :
                   : "memory", "cc");
  call.carry = carry;
  return call;
}

enum {
  MKDIR = 0x3900, RMDIR = 0x3A00, CREATE = 0x3C00, OPEN = 0x3D00, CLOSE = 0x3E00, READ = 0x3F00,
  WRITE = 0x4000, UNLINK = 0x4100, ALLOCATE = 0x4800, RESIZE = 0x4A00
};

/* A call that must not fail. Returns AX. */
static inline uint16_t must(const char *what, uint16_t ax, uint16_t bx, uint16_t cx,
                            const void *dx) {
  struct call call = dos(ax, bx, cx, dx);
  if (call.carry) fail(what);
  return call.ax;
}

static char job[JOB_BYTES];

/* The value of a parameter: a number after `NAME=` in the job, or `otherwise`. */
static inline uint32_t parameter(const char *name, uint32_t otherwise) {
  uint32_t length = length_of(name);
  for (const char *word = job; *word; word++) {
    if ((word != job && word[-1] != ' ') || !is_same(word, name, length) || word[length] != '=')
      continue;
    uint32_t value = 0;
    for (word += length + 1; *word >= '0' && *word <= '9'; word++)
      value = value * 10 + (uint32_t)(*word - '0');
    return value;
  }
  return otherwise;
}
/* DEFAULT_NAME comes from programs.toml. */
#define PARAMETER(name) parameter(#name, DEFAULT_##name)

/* DOS gives all memory to a .COM program. Keep its 64 KB, so that ALLOCATE and exec have memory. */
static inline void keep_one_segment(void) { must("memory", RESIZE, 0x1000, 0, NULL); }

__attribute__((used)) void dos_main(void) {
  uint32_t leaf = P5_MARKER_LEAF, magic = 0, operation = P5_OP_DETECT, argument = 0;
  __asm__ volatile("cpuid" : "+a"(leaf), "+b"(magic), "+c"(operation), "+d"(argument));
  if (leaf != 1 || magic != P5_MARKER_MAGIC) {
    dos(0x0900, 0, 0, "This program measures only on p5lab.\r\n$");
    return;
  }
  if (!marker(P5_OP_JOB_TEXT, JOB_BYTES, job, 0)) fail("job");
  for (int i = 0; i < EMPTY_BRACKETS; i++) empty_bracket();
  run();
}

/* The compiler may call these functions. */
void *memset(void *to, int value, size_t count) {
  void *first = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
  return first;
}

void *memcpy(void *to, const void *from, size_t count) {
  void *first = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  return first;
}

#endif
