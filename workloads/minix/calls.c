/* SPDX-License-Identifier: MIT */
/*
 * getpid: a call that the memory manager answers. dup: a call that the file system answers (chen95
 * section 4.2, figure 2). Each is a message to a server and back. Phases 1 and 2 bracket one call.
 */
#include <sys/types.h>
#include <unistd.h>
#include "p5.h"

static void one_getpid(void)
{
  p5_begin(1);
  getpid();
  p5_end(1);
}

static void one_dup(void)
{
  int copy;

  p5_begin(2);
  copy = dup(1);
  p5_end(2);
  if (copy < 0) p5_fail("dup");
  close(copy);
}

void calls(void)
{
  int iterations = p5_parameter("iterations", 50), warmup = p5_parameter("warmup", 5);

  p5_name(1L, "getpid");
  p5_name(2L, "dup");
  p5_repeat(one_getpid, warmup, iterations);
  p5_repeat(one_dup, warmup, iterations);
}
