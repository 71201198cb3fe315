/* SPDX-License-Identifier: MIT */
/*
 * mem-read: cycles of a load that depends on the previous load (chen95 section 4.4, figure 4). A
 * program of 16-bit MINIX has at most 64 KB of data. Phase 10000h + SIZE is an array of SIZE bytes.
 */
#include <stdlib.h>
#include "p5.h"

#define STRIDE 128
#define MAXIMUM 16384
#define UNROLL 100
#define FOLLOW at = (char **)*at;
#define TEN(x) x x x x x x x x x x

/* The compiler keeps `at` in a register. */
static char **follow(char **first, int blocks)
{
  register char **at = first;

  while (blocks-- > 0) { TEN(TEN(FOLLOW)) }
  return at;
}

static void measure(char *array, unsigned size, int blocks)
{
  static char name[] = "mem-read 00000 B";
  unsigned i, shown = size;

  for (i = 0; i < size; i += STRIDE) *(char **)(array + i) = array + (i + STRIDE) % size;
  for (i = 13; i >= 9; i--, shown /= 10) name[i] = '0' + shown % 10;
  p5_name(0x10000L + size, name);
  follow((char **)array, 1);
  p5_await_tick();
  p5_begin(0x10000L + size);
  follow((char **)array, blocks);
  p5_end(0x10000L + size);
}

void memory_read(void)
{
  unsigned size, blocks = p5_parameter("loads", 10000) / UNROLL;
  char *array = malloc(MAXIMUM);

  if (array == 0 || blocks == 0) p5_fail("mem-read: memory, or fewer than 100 loads");
  for (size = 512; size <= MAXIMUM; size *= 2) measure(array, size, blocks);
  free(array);
}
