/* SPDX-License-Identifier: MIT */
/* Replaces musl's arch/i386/pthread_arch.h: the address of the thread is in a variable, because
 * Linux 2.0 has no segment for it in the GDT. A program for such a system has one thread. */
extern hidden uintptr_t p5_thread;

static inline uintptr_t __get_tp(void) { return p5_thread; }

#define MC_PC gregs[REG_EIP]
