/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/p5ctr: the Pentium's two event counters for programs.
 *
 * ioctl P5CTR_CONFIG, then any number of P5CTR_START / P5CTR_STOP pairs, each one system call.
 * mmap() of the device (offset 0, at most P5CTR_BUFFER_MAX bytes) gives a zeroed, cached,
 * physically contiguous buffer that is aligned to its size rounded up to a power of two; one buffer
 * per open file, freed with it. Further mappings of the file show the same buffer. This is all that
 * the device does on x86-64: ioctl() fails with ENOTTY there.
 *
 * ioctl P5CTR_GATES makes two interrupt gates for programs, there until the file is closed; EBUSY
 * while another file has them.
 *
 * Used by the driver and by programs. Register layout: Intel SDM vol. 3B, "Performance Monitoring
 * (Pentium Processors)".
 */
#ifndef P5CTR_H
#define P5CTR_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* What makes a counter count: the CC0 and CC1 fields of CESR. Add P5CTR_CC_CLOCKS to count clocks
 * during which the event holds instead of its occurrences.
 */
#define P5CTR_CC_OFF 0
#define P5CTR_CC_KERNEL 1 /* at privilege levels 0 to 2 */
#define P5CTR_CC_USER 2   /* at privilege level 3 */
#define P5CTR_CC_ALL 3
#define P5CTR_CC_CLOCKS 4

struct p5ctr_config {
	__u32 event0; /* 0..63 */
	__u32 cc0;    /* P5CTR_CC_*, 0..7 */
	__u32 event1;
	__u32 cc1;
};

struct p5ctr_counts {
	__u64 ctr0; /* 40 bits */
	__u64 ctr1; /* 40 bits */
	__u64 tsc;  /* clocks */
};

#define P5CTR_CONFIG _IOW('5', 1, struct p5ctr_config) /* select events; stops both counters */
#define P5CTR_START _IO('5', 2)                        /* zero both counters, then count */
#define P5CTR_STOP _IOR('5', 3, struct p5ctr_counts)   /* freeze, then read */
#define P5CTR_READ _IOR('5', 4, struct p5ctr_counts)   /* read while counting */
#define P5CTR_GATES _IO('5', 5)                        /* the two gates below */

#define P5CTR_BUFFER_MAX (4 << 20)

/* INT with this vector goes to ring 0 and straight back: the handler is one IRET. */
#define P5CTR_GATE_RETURN 0xF0
/* The same between markers (workloads/lib/marker.h), so that INT and IRET can be told apart. The
 * handler executes CPUID with the caller's registers, then CPUID with EAX = ESI, ECX =
 * P5CTR_MARK_BEGIN, EDX = EDI; it comes back with EAX = ESI, ECX = P5CTR_MARK_END, EDX = EDI, ready
 * for a CPUID of the caller. EBX is lost, ESI, EDI and EBP are kept.
 */
#define P5CTR_GATE_MARK 0xF1
#define P5CTR_MARK_BEGIN 2
#define P5CTR_MARK_END 3

#endif
