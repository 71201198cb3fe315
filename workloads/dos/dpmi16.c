/* SPDX-License-Identifier: MIT */
/*
 * dpmi16: the system calls of int21 from 16-bit protected mode, as a client of a DPMI host. The host
 * passes function 59h on to DOS, and may answer function 35h itself. Phases 1659 and 1635 bracket
 * one call each.
 */
#include "dpmi.h"

BRACKET(get_error, 1659, GET_ERROR);
WITHOUT_MARKERS(warm_error, GET_ERROR);
BRACKET(get_vector, 1635, GET_VECTOR);
WITHOUT_MARKERS(warm_vector, GET_VECTOR);

static void run(void) {
  uint32_t iterations = PARAMETER(iterations), warmup = PARAMETER(warmup);
  name_phase(1659, "INT 21h 59h, 16-bit DPMI");
  name_phase(1635, "INT 21h 35h, 16-bit DPMI");
  if (!become_client(DPMI_16)) return;
  repeat(warm_error, get_error, warmup, iterations);
  repeat(warm_vector, get_vector, warmup, iterations);
}
