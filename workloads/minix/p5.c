/* SPDX-License-Identifier: MIT */
#include <sys/types.h>
#include <sys/times.h>
#include <stdlib.h>
#include <string.h>
#include "p5.h"

#define JOB_BYTES 256
#define EMPTY_BRACKETS 10

int p5_on;
static char job[JOB_BYTES];

static void say(char *text) { p5_marker(P5_TEXT, (long)strlen(text), text, 0); }

/* End the run with status 1. The last line of the text is part of p5lab's message. */
void p5_fail(char *what)
{
  say(what);
  say("\n");
  p5_marker(P5_EXIT, 1L, (char *)0, 0);
  exit(1);
}

void p5_name(long phase, char *name)
{
  if (!p5_marker(P5_NAME, phase, name, (unsigned)strlen(name))) p5_fail(name);
}

/* Wait until the clock ticks, 60 times a second. */
void p5_await_tick(void)
{
  struct tms spent;
  clock_t now = times(&spent);

  while (times(&spent) == now) {}
}

/* Call `iteration`, which contains its own begin and end: first `warmup` times with the markers off,
 * then, from a clock tick on, with the markers on.
 */
void p5_repeat(void (*iteration)(void), int warmup, int iterations)
{
  p5_on = 0;
  while (warmup-- > 0) (*iteration)();
  p5_await_tick();
  p5_on = 1;
  while (iterations-- > 0) (*iteration)();
}

static void empty_bracket(void)
{
  p5_begin(P5_EMPTY);
  p5_end(P5_EMPTY);
}

void p5_start(void)
{
  if (!p5_marker(P5_JOB, (long)JOB_BYTES, job, 0)) exit(2);
  p5_repeat(empty_bracket, 1, EMPTY_BRACKETS);
}

/* The value of a parameter: a number after `NAME=` in the job, or `otherwise`. */
int p5_parameter(char *name, int otherwise)
{
  size_t length = strlen(name);
  char *word = job;

  while (*word) {
    if (strncmp(word, name, length) == 0 && word[length] == '=') return atoi(word + length + 1);
    while (*word && *word != ' ') word++;
    while (*word == ' ') word++;
  }
  return otherwise;
}
