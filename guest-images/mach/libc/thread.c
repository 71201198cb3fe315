// SPDX-License-Identifier: MIT
/* %gs selects a segment that begins at the thread pointer. The kernel's table has a descriptor of
 * this segment for each thread.
 */
#include <mach/port.h>
#include <mach/i386/mach_i386_types.h>
#include <stdint.h>

#include "traps.h"
#include "mach_i386_calls.h"

/* Flat data segment of ring 3 at `base` (Intel SDM vol. 3, segment descriptors). */
#define LIMIT 0xFFFFFu
#define ACCESS 0xF2u /* present, ring 3, data, writable */
#define FLAGS 0xCu   /* in pages, 32 bits */

__attribute__((visibility("hidden"))) int __set_thread_area(void *pointer) {
  uint32_t base = (uint32_t)(uintptr_t)pointer;
  struct descriptor descriptor = {
      base << 16 | (LIMIT & 0xFFFF),
      (base & 0xFF000000) | FLAGS << 20 | (LIMIT & 0xF0000) | ACCESS << 8 | (base >> 16 & 0xFF)};
  int selector = -1;
  if (i386_set_gdt(mach_thread_self(), &selector, descriptor) != KERN_SUCCESS) return -1;
  __asm__ volatile("mov %w0, %%gs" : : "r"(selector));
  return 0;
}
