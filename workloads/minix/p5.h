/* SPDX-License-Identifier: MIT */
/*
 * Programs for MINIX 2, compiled by its own compiler (ANSI C of 1989, int has 16 bits): markers, the
 * job, and repetition. workloads/lib/p5w.h is the same for programs of our own guests.
 */
#ifndef P5_H
#define P5_H

/* docs/reference/marker-protocol.md */
#define P5_DETECT 0
#define P5_BEGIN 2
#define P5_END 3
#define P5_EXIT 5
#define P5_TEXT 11
#define P5_JOB 12
#define P5_NAME 13
#define P5_EMPTY (-1L)

extern int p5_on; /* whether begin and end have an effect */

int p5_marker(int operation, long argument, char *text, unsigned length);
void p5_start(void);
void p5_name(long phase, char *name);
void p5_repeat(void (*iteration)(void), int warmup, int iterations);
void p5_await_tick(void);
void p5_fail(char *what);
int p5_parameter(char *name, int otherwise);

#define p5_begin(phase) (p5_on ? p5_marker(P5_BEGIN, (long)(phase), (char *)0, 0) : 0)
#define p5_end(phase) (p5_on ? p5_marker(P5_END, (long)(phase), (char *)0, 0) : 0)

/* The benchmarks, in the order in which main() starts them. */
void calls(void);
void exec_static(void);
void memory_read(void);
void files(void);
void pipes(void);
void small_files(void);

#endif
