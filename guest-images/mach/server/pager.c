// SPDX-License-Identifier: MIT
/*
 * Memory that several tasks share. Each piece is a memory object, and a thread of this task serves
 * all objects. When a task first touches a page, the kernel requests the page from this thread. The
 * thread answers that there are no data, so the page begins as zeros. The thread must be separate,
 * because the server's main thread also touches these pages and would otherwise wait for its own
 * answer.
 */
#include <errno.h>
#include <mach/memory_object.h>
#include <mach/mig_errors.h>
#include <stdlib.h>

#include "mach_calls.h"
#include "mach_port_calls.h"
#include "memory_object_server.h"
#include "server.h"
#include "traps.h"

struct shared_memory {
  struct shared_memory *next; /* in the list of all */
  mach_port_t object;
  char *bytes;
  size_t size;
};

static struct shared_memory *all;
static mach_port_t objects = MACH_PORT_NULL; /* port set of all objects */
static char stack[SERVER_STACK] __attribute__((aligned(PAGE))); /* stack of the thread */

static mig_routine_t routine_of(const mach_msg_header_t *header) {
  return memory_object_server_routine((mach_msg_header_t *)header);
}

static _Noreturn void pager(void) { serve_port(objects, routine_of); }

/* This thread has its own reply port, because the main thread may be waiting for the file server at
 * the same time.
 */
mach_port_t *__mach_reply_place(void) {
  static mach_port_t places[2];
  const char *here = __builtin_frame_address(0);
  return &places[here >= stack && here < stack + sizeof(stack)];
}

static int start(void) {
  mach_port_t self = mach_task_self(), thread;
  kern_return_t status = mach_port_allocate(self, MACH_PORT_RIGHT_PORT_SET, &objects);
  if (!status) status = thread_create(self, &thread);
  if (!status) status = thread_begin(self, thread, pager, stack);
  return status;
}

struct shared_memory *shared_new(size_t size) {
  if (!objects && start()) return NULL;
  struct shared_memory *memory = calloc(1, sizeof(*memory));
  if (!memory) return NULL;
  mach_port_t self = mach_task_self();
  memory->size = PAGES(size);
  kern_return_t status = mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &memory->object);
  if (!status)
    status = mach_port_insert_right(self, memory->object, memory->object, MACH_MSG_TYPE_MAKE_SEND);
  if (!status) status = mach_port_move_member(self, memory->object, objects);
  vm_offset_t address = 0;
  if (!status) status = shared_map(memory, self, &address, memory->size, 0, 1, VM_PROT_ALL);
  memory->bytes = (char *)address;
  memory->next = all;
  if (!status) return all = memory;
  if (memory->object) mach_port_destroy(self, memory->object);
  free(memory);
  return NULL;
}

char *shared_bytes(struct shared_memory *memory) { return memory->bytes; }

int shared_map(struct shared_memory *memory, mach_port_t task, vm_offset_t *address, size_t size,
               size_t offset, int anywhere, int protection) {
  if (offset + size > memory->size) return KERN_INVALID_ARGUMENT;
  if (!anywhere) vm_deallocate(task, *address, size);
  return vm_map(task, address, size, 0, anywhere, memory->object, offset, 0, protection, VM_PROT_ALL,
                VM_INHERIT_SHARE);
}

/* The kernel sends a message when no task maps the object any more. Then the object is freed. */
void shared_free(struct shared_memory *memory) {
  struct shared_memory **place = &all;
  while (*place != memory) place = &(*place)->next;
  *place = memory->next;
  pages_free(memory->bytes, memory->size);
  free(memory);
}

/* --- requests of the kernel ------------------------------------------------------------------- */

kern_return_t memory_object_init(mach_port_t object, mach_port_t control, mach_port_t name,
                                 vm_size_t page_size) {
  (void)object, (void)name, (void)page_size;
  return memory_object_ready(control, 0, MEMORY_OBJECT_COPY_DELAY);
}

kern_return_t memory_object_terminate(mach_port_t object, mach_port_t control, mach_port_t name) {
  mach_port_t self = mach_task_self();
  mach_port_destroy(self, control);
  mach_port_destroy(self, name);
  mach_port_destroy(self, object);
  return KERN_SUCCESS;
}

kern_return_t memory_object_data_request(mach_port_t object, mach_port_t control, vm_offset_t offset,
                                         vm_size_t length, vm_prot_t access) {
  (void)object, (void)access;
  memory_object_data_unavailable(control, offset, length);
  return mach_port_deallocate(mach_task_self(), control);
}

/* The kernel pages out these pages. If no task maps the object any more, drop the pages. Otherwise
 * the server cannot store the pages anywhere, so the server stops: programs use more memory than
 * the machine has.
 */
kern_return_t memory_object_data_return(mach_port_t object, mach_port_t control, vm_offset_t offset,
                                        vm_offset_t data, mach_msg_type_number_t count,
                                        boolean_t dirty, boolean_t kernel_copy) {
  (void)offset, (void)dirty, (void)kernel_copy;
  for (const struct shared_memory *one = all; one; one = one->next)
    if (one->object == object) panic("out of memory: the kernel gives shared pages back", 0);
  pages_free((void *)data, count);
  return mach_port_deallocate(mach_task_self(), control);
}

/* The kernel never makes these requests for the objects of this thread. */
kern_return_t memory_object_copy(mach_port_t object, mach_port_t control, vm_offset_t offset,
                                 vm_size_t length, mach_port_t copy) {
  (void)object, (void)control, (void)offset, (void)length, (void)copy;
  return KERN_FAILURE;
}

kern_return_t memory_object_data_unlock(mach_port_t object, mach_port_t control, vm_offset_t offset,
                                        vm_size_t length, vm_prot_t access) {
  (void)object, (void)control, (void)offset, (void)length, (void)access;
  return KERN_FAILURE;
}

kern_return_t memory_object_lock_completed(mach_port_t object, mach_port_t control,
                                           vm_offset_t offset, vm_size_t length) {
  (void)object, (void)control, (void)offset, (void)length;
  return KERN_FAILURE;
}

kern_return_t memory_object_supply_completed(mach_port_t object, mach_port_t control,
                                             vm_offset_t offset, vm_size_t length,
                                             kern_return_t result, vm_offset_t error) {
  (void)object, (void)control, (void)offset, (void)length, (void)result, (void)error;
  return KERN_FAILURE;
}

kern_return_t memory_object_change_completed(mach_port_t object, boolean_t may_cache,
                                             memory_object_copy_strategy_t strategy) {
  (void)object, (void)may_cache, (void)strategy;
  return KERN_FAILURE;
}
