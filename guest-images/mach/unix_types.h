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

/* Numbers of calls that Linux does not have. */
#define UNIX_SIGNALS 1001 /* where struct unix_signals is, and what is entered for a signal */
#define UNIX_TAKE 1002    /* the next signal that is not blocked (two words), 0: none */
#define UNIX_SLEEP 1003   /* so many milliseconds, unless a signal comes */
#define UNIX_DEBUG 1004   /* struct unix_debug */

/* Of each program, in its own memory: the server reads and writes it when there is a signal. */
struct unix_signals {
  int in_call;          /* the library is at work: it looks for signals itself when it has done */
  int pending;          /* there are some */
  unsigned resume;      /* where the program was, if the server had it enter for a signal */
  unsigned blocked[2];
};

/* What is in use, to see that nothing is lost. */
struct unix_debug {
  unsigned processes, files, sysv, free_pages; /* pages: of the machine */
  unsigned ports, bytes;                       /* of the server: names of ports, address space */
  unsigned file_nodes, file_ports, file_bytes; /* of the file side; on mach-split, of its task */
};

typedef int arguments_t[6];
typedef int fs_words_t[4];
typedef mach_port_t task_port_t;
typedef char small_t[UNIX_INLINE_MAX];
typedef char *bulk_t;
typedef char *answer_t;
typedef const char *const_answer_t; /* as MIG calls what goes in */
typedef mach_port_t reply_port_t;
typedef mach_port_t send_once_t;

#endif
