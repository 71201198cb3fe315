/* SPDX-License-Identifier: MIT */
/* The kernel's traps and our own (traps.S). */
#ifndef P5LAB_TRAPS_H
#define P5LAB_TRAPS_H

#include <mach/kern_return.h>
#include <mach/machine/vm_types.h>
#include <mach/message.h>
#include <mach/port.h>

mach_port_t mach_reply_port(void);
mach_port_t mach_thread_self(void);
mach_port_t mach_task_self(void);
mach_port_t mach_host_self(void);
void mach_print(const char *);
int swtch_pri(int);
kern_return_t syscall_vm_map(mach_port_t task, vm_offset_t *address, vm_size_t size, vm_offset_t mask,
                             int anywhere, mach_port_t object, vm_offset_t offset, int copy,
                             int protection, int maximum, int inheritance);
kern_return_t syscall_vm_allocate(mach_port_t task, vm_offset_t *address, vm_size_t size,
                                  int anywhere);
kern_return_t syscall_vm_deallocate(mach_port_t task, vm_offset_t address, vm_size_t size);

mach_port_t mig_get_reply_port(void);
void mig_dealloc_reply_port(mach_port_t);
mach_port_t *__mach_reply_place(void);

__attribute__((__visibility__("hidden"))) long __mach_fork(int number);
int __mach_probe_read(const void *);
int __mach_probe_write(void *);

#endif
