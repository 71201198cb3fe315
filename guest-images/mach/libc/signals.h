/* SPDX-License-Identifier: MIT */
/* Signals as the library sees them (signals.c). */
#ifndef P5LAB_SIGNALS_H
#define P5LAB_SIGNALS_H

#include "system.h"
#include "unix_types.h"

extern HIDDEN volatile struct unix_signals __mach_signals;
extern HIDDEN int __mach_signals_known; /* to the server: the program has a handler, or blocks some */

HIDDEN long __mach_signal_call(long number, const int *arguments);
/* Call the handlers of what is pending. Returns whether a call that was interrupted begins again. */
HIDDEN int __mach_signals_deliver(void);
HIDDEN int __mach_is_restarted(long number);
HIDDEN void __mach_signal_entry(void); /* i386/signal.S */

#endif
