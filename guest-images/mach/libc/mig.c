// SPDX-License-Identifier: MIT
/* The functions that MIG's stubs expect from a C library. */
#include <mach/message.h>
#include <mach/port.h>
#include <mach/std_types.h>
#include <string.h>

#include "traps.h"

static mach_port_t reply_port;

/* The reply port is UNIX_REPLY_PORT in programs. The server has its own reply port. */
weak mach_port_t __mach_reply_port = 0;

/* Returns the address of the variable that contains the thread's reply port. Two threads of a
 * server must not wait for answers at the same port, so the server has its own version of this
 * function.
 */
weak mach_port_t *__mach_reply_place(void) { return &reply_port; }

mach_port_t mig_get_reply_port(void) {
  if (__mach_reply_port) return __mach_reply_port;
  mach_port_t *place = __mach_reply_place();
  if (!*place) *place = mach_reply_port();
  return *place;
}

/* After an error the port may still receive the answer to the failed call. The next call must not
 * receive this answer.
 */
void mig_dealloc_reply_port(mach_port_t port) {
  mach_port_t *place = __mach_reply_place();
  if (port == *place) *place = 0;
}

void mig_put_reply_port(mach_port_t port) { (void)port; }

void mig_init(void *first) { (void)first; }

void mig_allocate(vm_address_t *address, vm_size_t size) {
  if (syscall_vm_allocate(mach_task_self(), address, size, 1)) *address = 0;
}

void mig_deallocate(vm_address_t address, vm_size_t size) {
  syscall_vm_deallocate(mach_task_self(), address, size);
}

vm_size_t mig_strncpy(char *to, const char *from, vm_size_t size) {
  strncpy(to, from, size);
  to[size - 1] = '\0';
  return strlen(to) + 1;
}

mach_msg_return_t mach_msg(mach_msg_header_t *message, mach_msg_option_t option,
                           mach_msg_size_t send_size, mach_msg_size_t receive_size,
                           mach_port_name_t receive_name, mach_msg_timeout_t timeout,
                           mach_port_name_t notify) {
  return mach_msg_trap(message, option, send_size, receive_size, receive_name, timeout, notify);
}
