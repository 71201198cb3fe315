/* SPDX-License-Identifier: MIT */
/*
 * int21: system calls of DOS (chen95 section 4.2, figure 2). The paper's program for 16-bit code
 * calls function 59h, "get extended error information". Its program for 32-bit code calls function
 * 35h, "get interrupt vector". Phases 59 and 35 bracket one call each.
 */
#include "int21.h"

BRACKET(get_error, 59, GET_ERROR);
WITHOUT_MARKERS(warm_error, GET_ERROR);
BRACKET(get_vector, 35, GET_VECTOR);
WITHOUT_MARKERS(warm_vector, GET_VECTOR);

static void run(void) {
  uint32_t iterations = PARAMETER(iterations), warmup = PARAMETER(warmup);
  name_phase(59, "INT 21h 59h");
  name_phase(35, "INT 21h 35h");
  repeat(warm_error, get_error, warmup, iterations);
  repeat(warm_vector, get_vector, warmup, iterations);
}
