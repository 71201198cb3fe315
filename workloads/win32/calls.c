/* SPDX-License-Identifier: MIT */
/*
 * calls: three calls of the system. GetCurrentProcessId reads a variable of the process on most
 * systems and enters no kernel. SetEvent enters the kernel and changes the state of an object that
 * is set already. DuplicateHandle is dup() of Windows (chen95 section 4.2, figure 2); CloseHandle
 * follows after the bracket.
 */
#include "p5w.h"
#include "win32.h"

enum { PROCESS_ID, SET_EVENT, DUPLICATE };

static handle event;

static void process_id(void) {
  p5_begin(PROCESS_ID);
  GetCurrentProcessId();
  p5_end(PROCESS_ID);
}

static void set_event(void) {
  p5_begin(SET_EVENT);
  int success = SetEvent(event);
  p5_end(SET_EVENT);
  if (!success) p5w_fail("SetEvent");
}

static void duplicate(void) {
  handle own = GetCurrentProcess(), copy;
  p5_begin(DUPLICATE);
  int success = DuplicateHandle(own, event, own, &copy, 0, 0, SAME_ACCESS);
  p5_end(DUPLICATE);
  if (!success) p5w_fail("DuplicateHandle");
  CloseHandle(copy);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  event = CreateEventA(NULL, 1, 1, NULL);
  if (!event) p5w_fail("CreateEvent");

  p5w_repeat(process_id, warmup, iterations);
  p5w_repeat(set_event, warmup, iterations);
  p5w_repeat(duplicate, warmup, iterations);
  return 0;
}
