// SPDX-License-Identifier: MIT
/*
 * /dev/p5ctr, as in guest linux (linux/p5ctr/p5ctr.h). Only ring 0 may use the counters, so the
 * server goes through gates that we added to the kernel (gates.S). The device's memory is
 * physically contiguous. The kernel allocates this memory in the caller's task.
 */
#include <errno.h>
#include <string.h>

#include "gnumach_calls.h"
#include "mach_calls.h"
#include "p5ctr.h"
#include "server.h"

static void start(uint32_t select) {
  uint32_t a, c, d;
  __asm__ volatile("int $0xF2" : "=a"(a), "=c"(c), "=d"(d) : "S"(select) : "memory");
}

static void fetch(uint32_t counting, struct p5ctr_counts *counts) {
  uint32_t words[6];
  __asm__ volatile("int $0xF3"
                   : "=S"(words[0]), "=D"(words[1]), "=b"(words[2]), "=c"(words[3]),
                     "=a"(words[4]), "=d"(words[5])
                   : "S"(counting)
                   : "memory");
  memcpy(counts, words, sizeof(words));
}

static long configure(struct file *file, const struct p5ctr_config *config) {
  if (config->event0 > 63 || config->event1 > 63 || config->cc0 > 7 || config->cc1 > 7)
    return -EINVAL;
  file->counters = config->event0 | config->cc0 << 6 | config->event1 << 16 | config->cc1 << 22;
  start(0);
  return 0;
}

long counters_control(struct file *file, struct request *request) {
  switch ((uint32_t)request->arguments[1]) {
    case P5CTR_CONFIG:
      if (request->in_length != sizeof(struct p5ctr_config)) return -EINVAL;
      return configure(file, (const struct p5ctr_config *)request->in);
    case P5CTR_START: start(file->counters); return 0;
    case P5CTR_STOP:
    case P5CTR_READ:
      fetch((uint32_t)request->arguments[1] == P5CTR_READ, (struct p5ctr_counts *)request->out);
      request->out_length = sizeof(struct p5ctr_counts);
      return 0;
    case P5CTR_GATES: return 0; /* the gates always exist, for every program */
    default: return -ENOTTY;
  }
}

/* Allocate memory that is aligned to its size, rounded up to a power of two. The kernel's allocator
 * does this anyway. The kernel frees the memory when the task ends. Each mapping has its own
 * memory.
 */
long counters_memory(struct process *process, uint32_t length, uint32_t offset) {
  vm_address_t address;
  rpc_phys_addr_t physical;
  uint32_t alignment = PAGE;
  if (offset || !length || length > P5CTR_BUFFER_MAX) return -EINVAL;
  while (alignment < length) alignment *= 2;
  if (vm_allocate_contiguous(host_port, process->task, &address, &physical, PAGES(length), 0,
                             (rpc_phys_addr_t)-1, 0))
    return -ENOMEM;
  if (physical % alignment == 0) return (long)address;
  vm_deallocate(process->task, address, PAGES(length));
  return -ENOMEM;
}
