/* SPDX-License-Identifier: MIT */
/* What both sides of the UNIX server's interface know. */
#ifndef P5LAB_UNIX_TYPES_H
#define P5LAB_UNIX_TYPES_H

#include <mach/message.h>
#include <mach/port.h>

#define UNIX_INLINE_MAX 2048 /* unix_types.defs: small_t */

/* Port names that the server gives every task of a process. They are the same in all of them, so that
 * a forked task finds its own where its memory says the parent's are.
 */
#define UNIX_PROCESS_PORT 20 /* send right: requests */
#define UNIX_REPLY_PORT 21   /* receive right: their answers, and those of the kernel */

/* Behind an instruction that may touch a bad address: `ret`, these bytes, then what to do about the
 * fault. The server lets the thread go on there.
 */
#define UNIX_PROBE_MARK "P5EF"

typedef int arguments_t[6];
typedef char small_t[UNIX_INLINE_MAX];
typedef char *bulk_t;
typedef mach_port_t reply_port_t;
typedef mach_port_t send_once_t;

#endif
