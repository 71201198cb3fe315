// SPDX-License-Identifier: MIT
/*
 * mach-fault: the first access to a page. A bracket contains one access, and each bracket accesses
 * a different page. The phases are:
 *
 *   0   anonymous memory: the kernel supplies a page of zeros
 *   1   a memory object of the program: the kernel requests the page from a second thread by a
 *       message, and the thread answers that it has no data, which means zeros
 *   2   the same as 1, but the thread supplies a page, out of line
 */
#include "mach.h"

#define PAGES_MAX 256
#define DATA_REQUEST 2203 /* mach/memory_object.defs */
#define INIT 2200

/* The common part of both messages: a port of the kernel, and the range of a request. */
struct request {
  mach_msg_header_t header;
  mach_msg_type_t control_type;
  mach_port_t control;
  mach_msg_type_t offset_type;
  vm_offset_t offset;
  mach_msg_type_t length_type;
  vm_size_t length;
  char rest[128];
};

static char stack[STACK_BYTES] __attribute__((aligned(4096)));
static char supplied[4096] __attribute__((aligned(4096)));
static mach_port_t object;
static volatile char *pages;
static long at;
static volatile uint32_t current;

static void pager(void) {
  static struct request request;
  for (;;) {
    if (mach_msg_trap(&request.header, MACH_RCV_MSG, 0, sizeof(request), object, 0, MACH_PORT_NULL))
      continue;
    if (request.header.msgh_id == INIT)
      memory_object_ready(request.control, 0, MEMORY_OBJECT_COPY_DELAY);
    if (request.header.msgh_id != DATA_REQUEST) continue;
    if (current == 1)
      memory_object_data_unavailable(request.control, request.offset, request.length);
    else
      memory_object_data_supply(request.control, request.offset, (vm_offset_t)supplied, 4096, 0, 0, 0,
                                MACH_PORT_NULL);
  }
}

static void iteration(void) {
  volatile char *page = pages + 4096 * at++;
  char found;
  p5_begin(current);
  found = *page;
  p5_end(current);
  if (found == (current == 2 ? 'p' : 0)) return;
  fprintf(stderr, "mach-fault: page %ld: another byte\n", at - 1);
  exit(P5W_EXIT_FAILED);
}

int main(int argc, char **argv) {
  long iterations = 50, warmup = 5;
  const struct p5w_option options[] = {P5W_ITERATIONS(iterations, warmup), {0}};
  p5w_start(argc, argv, options);
  if (iterations + warmup > PAGES_MAX) {
    fprintf(stderr, "%s: at most %d iterations with the warm-up\n", argv[0], PAGES_MAX);
    return P5W_EXIT_USAGE;
  }
  memset(supplied, 'p', sizeof(supplied));
  mach_port_t thread = MACH_PORT_NULL;
  for (current = 0; current < 3; current++) {
    vm_offset_t address = 0;
    mach_port_t from = MACH_PORT_NULL;
    if (current) {
      if (thread) mach_check(thread_terminate(thread), "thread_terminate");
      from = object = mach_new_port();
      thread = mach_new_thread(mach_task_self(), pager, stack);
      mach_check(thread_resume(thread), "thread_resume");
    }
    mach_check(syscall_vm_map(mach_task_self(), &address, PAGES_MAX * 4096, 0, 1, from, 0, 0,
                              VM_PROT_READ | VM_PROT_WRITE, VM_PROT_ALL, VM_INHERIT_NONE), "vm_map");
    pages = (volatile char *)address;
    at = 0;
    p5w_repeat(iteration, warmup, iterations);
  }
  mach_check(thread_terminate(thread), "thread_terminate");
  return 0;
}
