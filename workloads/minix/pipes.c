/* SPDX-License-Identifier: MIT */
/*
 * cswitch: one byte to another process and back over two pipes (ousterhout90 table 3). pipe: read
 * what another process writes, 4 KB with each call (lai96 table 4 has 64 KB, which a program of
 * 16-bit MINIX does not have). Phase 7 brackets one round trip, phase 6 all chunks.
 */
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>
#include "p5.h"

#define CHUNK 4096

static int request[2], reply[2];
static char buffer[CHUNK];

static void round_trip(void)
{
  char byte = 0;
  int failed;

  p5_begin(7);
  failed = write(request[1], &byte, 1) != 1 || read(reply[0], &byte, 1) != 1;
  p5_end(7);
  if (failed) p5_fail("cswitch");
}

static pid_t forked(void)
{
  pid_t child = fork();

  if (child < 0) p5_fail("fork");
  return child;
}

static void context_switches(void)
{
  char byte;

  if (pipe(request) != 0 || pipe(reply) != 0) p5_fail("pipe");
  if (forked() == 0) {
    close(request[1]);
    while (read(request[0], &byte, 1) == 1)
      if (write(reply[1], &byte, 1) != 1) _exit(1);
    _exit(0);
  }
  p5_repeat(round_trip, p5_parameter("warmup", 5), p5_parameter("iterations", 50));
  close(request[0]);
  close(request[1]);
  close(reply[0]);
  close(reply[1]);
  wait((int *)0);
}

static void read_chunks(int from, int chunks)
{
  int left, got;

  for (; chunks > 0; chunks--)
    for (left = CHUNK; left > 0; left -= got)
      if ((got = read(from, buffer, left)) <= 0) p5_fail("pipe: read");
}

static void bandwidth(void)
{
  int ends[2], i, chunks = p5_parameter("chunks", 16);

  if (pipe(ends) != 0) p5_fail("pipe");
  if (forked() == 0) {
    close(ends[0]);
    for (i = 0; i < chunks + 2; i++)
      if (write(ends[1], buffer, CHUNK) != CHUNK) _exit(1);
    _exit(0);
  }
  close(ends[1]);
  read_chunks(ends[0], 2);
  p5_begin(6);
  read_chunks(ends[0], chunks);
  p5_end(6);
  close(ends[0]);
  wait((int *)0);
}

void pipes(void)
{
  p5_name(6L, "pipe");
  p5_name(7L, "cswitch");
  context_switches();
  bandwidth();
}
