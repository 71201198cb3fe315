// SPDX-License-Identifier: MIT
/*
 * What all parts of the server use, in each of its tasks: pages, the clock, threads, and the end of
 * the run if something is wrong. Nothing here calls the other files.
 */
#include <stdio.h>

#include "mach_calls.h"
#include "mach_host_calls.h"
#include "mach_i386_calls.h"
#include "mach_port_calls.h"
#include "server.h"
#include "traps.h"

mach_port_t host_port, device_port, port_set;

void *pages_new(size_t size) {
  vm_offset_t address = 0;
  if (!size) return NULL;
  return syscall_vm_allocate(mach_task_self(), &address, PAGES(size), 1) ? NULL : (void *)address;
}

/* Out-of-line data have the same offset within a page as in the sender's task, because the kernel
 * maps whole pages.
 */
void pages_free(void *pages, size_t size) {
  if (pages && size) syscall_vm_deallocate(mach_task_self(), (vm_offset_t)pages, size);
}

uint64_t now_ms(void) {
  time_value_t time;
  host_get_time(mach_host_self(), &time);
  return (uint64_t)time.seconds * 1000 + (uint64_t)time.microseconds / 1000;
}

int64_t now_seconds(void) {
  time_value_t time;
  host_get_time(mach_host_self(), &time);
  return time.seconds;
}

uint64_t memory_left(void) {
  struct vm_statistics memory;
  return vm_statistics(mach_task_self(), &memory) ? 0 : (uint64_t)memory.free_count * PAGE;
}

unsigned ports_held(void) {
  mach_port_t *names, *types;
  mach_msg_type_number_t count = 0, type_count = 0;
  if (mach_port_names(mach_task_self(), &names, &count, &types, &type_count)) return 0;
  pages_free(names, count * sizeof(*names));
  pages_free(types, type_count * sizeof(*types));
  return count;
}

unsigned bytes_held(void) {
  struct task_basic_info info;
  mach_msg_type_number_t count = TASK_BASIC_INFO_COUNT;
  return task_info(mach_task_self(), TASK_BASIC_INFO, (task_info_t)&info, &count)
             ? 0
             : (unsigned)info.virtual_size;
}

_Noreturn void panic(const char *what, int status) {
  static char text[128];
  snprintf(text, sizeof(text), "unix-server: %s: %#x\n", what, (unsigned)status);
  mach_print(text);
  host_reboot(host_port, 0); /* the end of the run */
  for (;;) task_terminate(mach_task_self());
}

/* The thread gets this thread's descriptors. */
kern_return_t thread_begin(mach_port_t task, mach_port_t thread, void (*entry)(void), char *stack) {
  struct i386_thread_state state;
  mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
  (void)task;
  kern_return_t status = thread_get_state(thread, i386_REGS_SEGS_STATE, (thread_state_t)&state,
                                          &count);
  unsigned gs;
  __asm__("mov %%gs, %0" : "=r"(gs));
  struct descriptor descriptor;
  int selector = -1;
  mach_port_t self = mach_thread_self();
  if (!status && gs & ~3u && !i386_get_gdt(self, (int)gs, &descriptor) &&
      !(status = i386_set_gdt(thread, &selector, descriptor)))
    state.gs = (unsigned)selector;
  state.eip = (unsigned)(uintptr_t)entry;
  state.uesp = (unsigned)(uintptr_t)stack + SERVER_STACK - 16;
  if (!status)
    status = thread_set_state(thread, i386_REGS_SEGS_STATE, (thread_state_t)&state, count);
  return status ? status : thread_resume(thread);
}
