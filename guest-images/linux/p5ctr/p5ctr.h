/* SPDX-License-Identifier: GPL-2.0 WITH Linux-syscall-note */
/*
 * /dev/p5ctr: the Pentium's two event counters for programs.
 *
 * Use ioctl P5CTR_CONFIG, then any number of P5CTR_START / P5CTR_STOP pairs. Each ioctl is one
 * system call. mmap() of the device (offset 0, at most P5CTR_BUFFER_MAX bytes) gives a zeroed,
 * cached, physically contiguous buffer. The buffer is aligned to its size, rounded up to a power of
 * two. Each open file has one buffer, which is freed with the file. Further mappings of the file
 * show the same buffer. On x86-64 the device has only this buffer, and ioctl() fails with ENOTTY.
 *
 * ioctl P5CTR_GATES makes two interrupt gates for programs. The gates exist until the file is
 * closed. The ioctl fails with EBUSY while another file has the gates.
 *
 * The driver and programs include this file. Register layout: Intel SDM vol. 3B, "Performance
 * Monitoring (Pentium Processors)".
 */
#ifndef P5CTR_H
#define P5CTR_H

#include <linux/ioctl.h>
#include <linux/types.h>

/* The values of the CC0 and CC1 fields of CESR, which select when a counter counts. Add
 * P5CTR_CC_CLOCKS to count the clocks of an event instead of its occurrences.
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

/* INT with this vector enters ring 0 and returns at once, because the handler is one IRET. */
#define P5CTR_GATE_RETURN 0xF0
/* The same between markers (workloads/lib/marker.h), so that INT and IRET are measured separately.
 * The handler executes CPUID with the caller's registers, then CPUID with EAX = ESI, ECX =
 * P5CTR_MARK_BEGIN, EDX = EDI. It returns with EAX = ESI, ECX = P5CTR_MARK_END, EDX = EDI, so that
 * the caller can execute CPUID. EBX is lost. ESI, EDI and EBP keep their values.
 */
#define P5CTR_GATE_MARK 0xF1
#define P5CTR_MARK_BEGIN 2
#define P5CTR_MARK_END 3

#endif
