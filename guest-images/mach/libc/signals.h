/* SPDX-License-Identifier: MIT */
/* Signals as the library sees them (signals.c). */
#ifndef P5LAB_SIGNALS_H
#define P5LAB_SIGNALS_H

#include "system.h"
#include "unix_types.h"

extern HIDDEN volatile struct unix_signals __mach_signals;
extern HIDDEN int __mach_signals_known; /* the server has the address of __mach_signals */

HIDDEN long __mach_signal_call(long number, const int *arguments);
/* Call the handlers of pending signals. Returns whether an interrupted call is repeated. */
HIDDEN int __mach_signals_deliver(void);
HIDDEN int __mach_is_restarted(long number);
HIDDEN void __mach_signal_entry(void); /* i386/signal.S */

#endif
