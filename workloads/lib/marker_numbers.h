/* SPDX-License-Identifier: MIT */
/*
 * The numbers of the markers (docs/reference/marker-protocol.md): the CPUID leaf, the operations,
 * and the phases that have a meaning of their own. C and C++ include this file, and Python reads it
 * (p5lab/describe/markers.py), so each line is `#define NAME NUMBER` and a comment.
 */
#ifndef P5LAB_MARKER_NUMBERS_H
#define P5LAB_MARKER_NUMBERS_H

#define P5_MARKER_LEAF 0x50354C42  /* "P5LB" */
#define P5_MARKER_MAGIC 0x616C3570 /* "p5la", the answer to P5_OP_DETECT in EBX */
#define P5_MARKER_ABI 1            /* the version, the answer to P5_OP_DETECT in EAX */

#define P5_OP_DETECT 0       /* out: EAX = P5_MARKER_ABI, EBX = P5_MARKER_MAGIC */
#define P5_OP_READY 1        /* the guest is up and waits for a job */
#define P5_OP_BEGIN 2        /* arg0 = phase */
#define P5_OP_END 3          /* arg0 = phase */
#define P5_OP_ABORT 4        /* arg0 = code; the run fails */
#define P5_OP_EXIT 5         /* arg0 = status; ends the run */
#define P5_OP_READ_COUNTER 6 /* arg0 = event index; out: EAX low, EDX high */
#define P5_OP_JOB 7          /* arg0 = offset; out: 12 bytes of the job text in EBX, ECX, EDX */
#define P5_OP_OUTPUT 8       /* arg0 = up to 4 bytes, arg1 = count | stream << 8 */
#define P5_OP_BOOTROM 9      /* real mode only, see guest-images/parts/bootrom */
#define P5_OP_PROGRAM 10     /* arg0 = offset; out: EAX = count (0 to 12), bytes in EBX, ECX, EDX */
#define P5_OP_TEXT 11        /* append EDX bytes at DS:ESI to the program output */
#define P5_OP_JOB_TEXT 12    /* copy the job text to ES:EDI, at most EDX bytes */
#define P5_OP_NAME 13        /* EBX bytes at DS:ESI are the name of phase arg0 */

#define P5_PHASE_EMPTY 0xFFFFFFFF  /* the empty brackets of a workload */
#define P5_PHASE_WHOLE 0xFFFFFFFE  /* the bracket around a delivered program */
#define P5_PHASE_REGION 0xFFFFFFFD /* the calls of a function without markers */
#define P5_PHASE_BOOT 0xFFFFFFFC   /* from reset to the end of the run, or to a script's end of it */
#define P5_PHASE_WINDOW 0x80000000 /* the first bracket of a script; below: of the guest's programs */

#endif
