/* SPDX-License-Identifier: MIT */
/*
 * One workload as a program for a system that boots from its own media. PROGRAM is its name, and
 * PHASES is added to the numbers of its phases, because all programs run in one boot.
 *
 * Parameters come from the command line and then from the job (`run --args`): each word of the job
 * that names a parameter of the program.
 */
#include "p5w.h"

#define JOB_BYTES 256
#define MOST_ARGUMENTS 32

static inline uint32_t phase_in_run(uint32_t phase) {
  return phase == P5_PHASE_EMPTY ? phase : phase + PHASES;
}
static inline void begin_in_run(uint32_t phase) { p5_begin(phase_in_run(phase)); }
static inline void end_in_run(uint32_t phase) { p5_end(phase_in_run(phase)); }

static int is_parameter(const char *word, const struct p5w_option *options) {
  size_t length = strcspn(word, "=");
  for (; options->name; options++)
    if (strlen(options->name) == length && strncmp(options->name, word, length) == 0) return 1;
  return 0;
}

static void start_in_run(int argc, char **argv, const struct p5w_option *options) {
  static char job[JOB_BYTES], *arguments[MOST_ARGUMENTS];
  int count = 0;
  for (; count < argc && count < MOST_ARGUMENTS; count++) arguments[count] = argv[count];
  if (!p5_marker_init()) {
    fprintf(stderr, "%s: measures only on p5lab\n", argv[0]);
#ifndef P5LAB_RUNS_ANYWHERE
    exit(P5W_EXIT_UNAVAILABLE);
#endif
  }
  p5_job(job, sizeof(job));
  for (char *word = strtok(job, " "); word && count < MOST_ARGUMENTS; word = strtok(NULL, " "))
    if (is_parameter(word, options)) arguments[count++] = word;
  p5w_start(count, arguments, options);
}

#define p5_begin begin_in_run
#define p5_end end_in_run
#define p5w_start start_in_run
#define STRING(x) #x
#define FILE_OF(name) STRING(name.c)
#include FILE_OF(PROGRAM)
