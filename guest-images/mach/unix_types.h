/* SPDX-License-Identifier: MIT */
/* The definitions that both sides of the UNIX server's interface share. */
#ifndef P5LAB_UNIX_TYPES_H
#define P5LAB_UNIX_TYPES_H

#include <mach/message.h>
#include <mach/port.h>

#define UNIX_INLINE_MAX 2048 /* unix_types.defs: small_t */

/* Port names in every task of a process. The names are the same in all tasks. A forked task has a
 * copy of the parent's memory, but each name in this copy means a port of the forked task.
 */
#define UNIX_PROCESS_PORT 20 /* send right: requests */
#define UNIX_REPLY_PORT 21   /* receive right: answers of the server and of the kernel */

/* An instruction that may use a bad address is followed by `ret`, these bytes, and the code that
 * handles the fault. After a fault the server lets the thread continue at that code.
 */
#define UNIX_PROBE_MARK "P5EF"

/* Numbers of calls that Linux does not have. */
#define UNIX_SIGNALS 1001 /* addresses of struct unix_signals and of the entry for signals */
#define UNIX_TAKE 1002    /* take the next signal that is not blocked (two words); 0: none */
#define UNIX_SLEEP 1003   /* sleep for a number of milliseconds, unless a signal comes */
#define UNIX_DEBUG 1004   /* struct unix_debug */

/* This structure is in each program's own memory. The server reads and writes the structure when
 * there is a signal.
 */
struct unix_signals {
  int in_call;          /* the library is active, and looks for signals at its end */
  int pending;          /* whether there are signals to handle */
  unsigned resume;      /* address of the code that the server interrupted */
  unsigned blocked[2];
};

/* The resources in use, to check that no resource is lost. */
struct unix_debug {
  unsigned processes, files, sysv, free_pages; /* pages: of the machine */
  unsigned ports, bytes;                       /* the server: port names, bytes of address space */
  unsigned file_nodes, file_ports, file_bytes; /* the file side; on mach-split its task */
};

typedef int arguments_t[6];
typedef int fs_words_t[4];
typedef mach_port_t task_port_t;
typedef char small_t[UNIX_INLINE_MAX];
typedef char *bulk_t;
typedef char *answer_t;
typedef const char *const_answer_t; /* MIG's name for an input */
typedef mach_port_t reply_port_t;
typedef mach_port_t send_once_t;

#endif
