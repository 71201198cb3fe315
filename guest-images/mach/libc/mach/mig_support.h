/* SPDX-License-Identifier: MIT */
/* Functions that MIG's stubs call in addition to the kernel's traps (mig.c). */
#ifndef P5LAB_MIG_SUPPORT_H
#define P5LAB_MIG_SUPPORT_H

#include <mach/message.h>
#include <mach/port.h>
#include <mach/std_types.h>
#include <string.h>

/* A port right in a message. Newer headers of the kernel define this type, and newer versions of
 * MIG expect it.
 */
typedef struct {
  mach_port_t name;
} mach_port_name_inlined_t;

mach_port_t mig_get_reply_port(void);
void mig_dealloc_reply_port(mach_port_t);
void mig_put_reply_port(mach_port_t);
void mig_init(void *);
void mig_allocate(vm_address_t *, vm_size_t);
void mig_deallocate(vm_address_t, vm_size_t);
vm_size_t mig_strncpy(char *, const char *, vm_size_t);

#endif
