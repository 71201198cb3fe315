/* SPDX-License-Identifier: MIT */
/*
 * hooked: the system calls of int21 while programs hook INT 21h (chen95 section 4.2: disk caches,
 * drivers of CD-ROMs and disk compression see each call first). A hook compares the number of the
 * function with one that it serves, and passes the call on. Phases 4000 + n (59h) and 5000 + n (35h)
 * bracket one call behind n hooks.
 */
#include "int21.h"

#define HOOKS 3
BRACKET(error_1, 4001, GET_ERROR);
BRACKET(error_2, 4002, GET_ERROR);
BRACKET(error_3, 4003, GET_ERROR);
BRACKET(vector_1, 5001, GET_VECTOR);
BRACKET(vector_2, 5002, GET_VECTOR);
BRACKET(vector_3, 5003, GET_VECTOR);
WITHOUT_MARKERS(warm_error, GET_ERROR);
WITHOUT_MARKERS(warm_vector, GET_VECTOR);

/* Each hook serves a function that no program here calls. */
#define HOOK(n) "hook_" #n ":\n  cmpb $0xEE, %ah\n  je 9f\n  ljmpw *%cs:next_" #n "\n9:\n  iretw\n" \
                "next_" #n ": .long 0\n"
__asm__(HOOK(1) HOOK(2) HOOK(3));
extern char hook_1[], hook_2[], hook_3[];
extern volatile uint32_t next_1, next_2, next_3;

static uint32_t vector(void) {
  uint16_t segment, offset;
  __asm__ volatile(
      "pushw %%es\n\tmovw $0x3521, %%ax\n\tint $0x21\n\tmovw %%es, %%dx\n\tpopw %%es\n\tmovzwl %%sp, %%esp"
      : "=b"(offset), "=d"(segment)
      :
      : "eax", "ecx", "memory", "cc");
  return (uint32_t)segment << 16 | offset;
}

/* Sets the vector of INT 21h: DS:DX for function 25h. */
static void set_vector(uint32_t to) {
  __asm__ volatile(
      "pushw %%ds\n\tmovw %%cx, %%ds\n\tmovw $0x2521, %%ax\n\tint $0x21\n\tpopw %%ds\n\tmovzwl %%sp, %%esp"
      :
      : "d"(to), "c"(to >> 16)
      : "eax", "memory", "cc");
}

static void hook(const char *code, volatile uint32_t *next) {
  uint16_t segment;
  __asm__("movw %%cs, %0" : "=r"(segment));
  *next = vector();
  set_vector((uint32_t)segment << 16 | (uint16_t)(uintptr_t)code);
}

static void run(void) {
  static const struct {
    char *code;
    volatile uint32_t *next;
    void (*get_error)(void), (*get_vector)(void);
    const char *error_name, *vector_name;
  } hooks[HOOKS] = {
      {hook_1, &next_1, error_1, vector_1, "INT 21h 59h, 1 hook", "INT 21h 35h, 1 hook"},
      {hook_2, &next_2, error_2, vector_2, "INT 21h 59h, 2 hooks", "INT 21h 35h, 2 hooks"},
      {hook_3, &next_3, error_3, vector_3, "INT 21h 59h, 3 hooks", "INT 21h 35h, 3 hooks"},
  };
  uint32_t iterations = PARAMETER(iterations), warmup = PARAMETER(warmup), before = vector();
  for (uint32_t i = 0; i < HOOKS; i++) {
    name_phase(4001 + i, hooks[i].error_name);
    name_phase(5001 + i, hooks[i].vector_name);
    hook(hooks[i].code, hooks[i].next);
    repeat(warm_error, hooks[i].get_error, warmup, iterations);
    repeat(warm_vector, hooks[i].get_vector, warmup, iterations);
  }
  set_vector(before);
}
