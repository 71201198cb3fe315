/* SPDX-License-Identifier: MIT */
/*
 * The parts that all workloads share: arguments, brackets, and the end after an error. Header only.
 *
 * A workload accepts only arguments of the form `key=value`. Exit status: 0 done, 1 failed while
 * running, 2 wrong arguments, 77 this machine does not have something that the workload needs.
 */
#ifndef P5LAB_P5W_H
#define P5LAB_P5W_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "marker.h"

#define P5W_EXIT_FAILED 1
#define P5W_EXIT_USAGE 2
#define P5W_EXIT_UNAVAILABLE 77

/* One argument: either a number in `value`, or one word of the list `choices` with its index in
 * `value`. The initial value is the default.
 */
struct p5w_option {
  const char *name;
  const char *help;
  long *value;
  long minimum;
  const char *const *choices; /* NULL terminated; NULL for a number */
};

static inline _Noreturn void p5w_usage(const char *program, const struct p5w_option *options) {
  fprintf(stderr, "usage: %s [key=value ...]\n", program);
  for (; options->name; options++) {
    fprintf(stderr, "  %s=", options->name);
    if (options->choices)
      fprintf(stderr, "%s", options->choices[*options->value]);
    else
      fprintf(stderr, "%ld", *options->value);
    fprintf(stderr, "  %s\n", options->help);
  }
  exit(P5W_EXIT_USAGE);
}

/* Parse a number with an optional suffix K or M (1024, 1024 * 1024). Returns 0 if the text is not a
 * number.
 */
static inline int p5w_number(const char *text, long *value) {
  char *end;
  errno = 0;
  long number = strtol(text, &end, 0);
  long unit = *end == 'K' ? 1L << 10 : *end == 'M' ? 1L << 20 : 1;
  if (unit != 1) end++;
  if (end == text || *end || errno || number > 0x7fffffffL / unit || number < 0) return 0;
  *value = number * unit;
  return 1;
}

static inline int p5w_choice(const char *text, const char *const *choices, long *value) {
  for (long i = 0; choices[i]; i++) {
    if (strcmp(text, choices[i]) != 0) continue;
    *value = i;
    return 1;
  }
  return 0;
}

/* Sleep until the clock ticks. A measurement that is shorter than the time between two ticks (10 ms
 * in the guests) then contains no tick. If 50 system calls are measured, a tick during one of them
 * would double the mean time of a call.
 */
static inline void p5w_await_tick(void) {
  const struct timespec shortest = {.tv_nsec = 1};
  nanosleep(&shortest, NULL);
}

/* Call `iteration`, which contains its own begin and end: first `warmup` times with the markers
 * off, then, from a clock tick on, `iterations` times with the markers on. The volatile pointer
 * keeps the compiler from inlining `iteration`, so both loops execute the same code at the same
 * addresses.
 */
static inline void p5w_repeat(void (*iteration)(void), long warmup, long iterations) {
  void (*volatile call)(void) = iteration;
  int enabled = p5_marker_enabled;
  p5_marker_enabled = 0;
  p5w_await_tick();
  for (long i = 0; i < warmup; i++) call();
  p5_marker_enabled = enabled;
  for (long i = 0; i < iterations; i++) call();
}

/* The empty bracket contains only the instructions that load the operands of its second marker. The
 * report subtracts the median of the empty brackets from all other brackets. A workload with its
 * own markers defines P5W_EMPTY_BRACKET (a function) before it includes this file.
 */
#define P5W_EMPTY_BRACKETS 10

#ifndef P5W_EMPTY_BRACKET
#define P5W_EMPTY_BRACKET p5w_empty_bracket
static inline void p5w_empty_bracket(void) {
  p5_begin(P5_PHASE_EMPTY);
  p5_end(P5_PHASE_EMPTY);
}
#else
static void P5W_EMPTY_BRACKET(void);
#endif

/* Every workload calls this first. The function parses the arguments into the options and looks for
 * the engine. If there is an engine, the function measures the empty bracket. The name in the last
 * entry of the options is NULL. Exits with P5W_EXIT_USAGE on a wrong argument.
 */
static inline void p5w_start(int argc, char **argv, const struct p5w_option *options) {
  for (int i = 1; i < argc; i++) {
    const char *equals = strchr(argv[i], '=');
    size_t length = equals ? (size_t)(equals - argv[i]) : strlen(argv[i]);
    const struct p5w_option *option = options;
    while (option->name &&
           (strncmp(option->name, argv[i], length) != 0 || option->name[length] != '\0'))
      option++;
    if (!equals || !option->name) {
      fprintf(stderr, "%s: unknown argument `%s`\n", argv[0], argv[i]);
      p5w_usage(argv[0], options);
    }
    int known = option->choices ? p5w_choice(equals + 1, option->choices, option->value)
                                : p5w_number(equals + 1, option->value);
    if (!known || (!option->choices && *option->value < option->minimum)) {
      fprintf(stderr, "%s: wrong value in `%s`: %s", argv[0], argv[i],
              option->choices ? "expected one of" : "expected a number (K, M allowed)");
      for (long k = 0; option->choices && option->choices[k]; k++)
        fprintf(stderr, " %s", option->choices[k]);
      if (!option->choices) fprintf(stderr, " of at least %ld", option->minimum);
      fprintf(stderr, "\n");
      exit(P5W_EXIT_USAGE);
    }
  }
  p5_marker_init();
  p5w_repeat(P5W_EMPTY_BRACKET, 1, P5W_EMPTY_BRACKETS);
}

/* Print `what` with the reason in errno and give up. */
static inline _Noreturn void p5w_fail(const char *what) {
  fprintf(stderr, "%s: %s\n", what, strerror(errno));
  exit(P5W_EXIT_FAILED);
}

/* The usual pair of options: the number of measured iterations, and the number of warm-up
 * iterations before them.
 */
#define P5W_ITERATIONS(iterations, warmup)                                   \
  {"iterations", "measured iterations", &(iterations), 1, NULL}, {           \
    "warmup", "iterations before the first measured one", &(warmup), 0, NULL \
  }

#endif
