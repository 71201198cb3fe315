/* SPDX-License-Identifier: MIT */
/*
 * The data that the bandwidth benchmarks send through a pipe or a connection, and how they check
 * the data. Each chunk begins with its number. All other bytes are the same in every chunk.
 */
#ifndef P5LAB_STREAM_H
#define P5LAB_STREAM_H

#include <unistd.h>

#include "p5w.h"

static inline unsigned char stream_byte(long at) { return (unsigned char)(at * 31 + (at >> 8)); }

/* Fill the part that is the same in all chunks. */
static inline void stream_fill(unsigned char *chunk, long size) {
  for (long i = 0; i < size; i++) chunk[i] = stream_byte(i);
}

static inline void stream_number(unsigned char *chunk, uint32_t number) {
  memcpy(chunk, &number, sizeof(number));
}

static inline _Noreturn void stream_wrong(const char *name, uint32_t number) {
  fprintf(stderr, "%s: chunk %u is not what was sent\n", name, (unsigned)number);
  exit(P5W_EXIT_FAILED);
}

/* Give up unless the chunk has this number. A bracket contains no other check. */
static inline void stream_check_number(const char *name, const unsigned char *chunk,
                                       uint32_t number) {
  if (memcmp(chunk, &number, sizeof(number)) != 0) stream_wrong(name, number);
}

/* Give up unless the whole chunk is correct. */
static inline void stream_check(const char *name, const unsigned char *chunk, long size,
                                uint32_t number) {
  stream_check_number(name, chunk, number);
  for (long i = sizeof(number); i < size; i++)
    if (chunk[i] != stream_byte(i)) stream_wrong(name, number);
}

/* Read `size` bytes, in as many calls as necessary. Give up at the end of the stream. */
static inline void stream_read(const char *name, int from, unsigned char *to, long size) {
  while (size > 0) {
    errno = EPIPE;
    ssize_t count = read(from, to, (size_t)size);
    if (count <= 0) p5w_fail(name);
    to += count, size -= count;
  }
}

static inline void stream_write(const char *name, int to, const unsigned char *from, long size) {
  while (size > 0) {
    ssize_t count = write(to, from, (size_t)size);
    if (count < 0) p5w_fail(name);
    from += count, size -= count;
  }
}

/* Send `count` chunks: the sending side of a benchmark. */
static inline void stream_send(const char *name, int to, unsigned char *chunk, long size,
                               long count) {
  stream_fill(chunk, size);
  for (uint32_t i = 0; i < (uint32_t)count; i++) {
    stream_number(chunk, i);
    stream_write(name, to, chunk, size);
  }
}

/* Receive `warmup` chunks, then `count` chunks as phase 0. Check the whole last chunk of each part.
 */
static __attribute__((noinline)) void stream_take(const char *name, int from, unsigned char *chunk,
                                                  long size, long first, long count) {
  for (long i = first; i < first + count; i++) {
    stream_read(name, from, chunk, size);
    stream_check_number(name, chunk, (uint32_t)i);
  }
}

static inline void stream_receive(const char *name, int from, unsigned char *chunk, long size,
                                  long warmup, long count) {
  stream_take(name, from, chunk, size, 0, warmup);
  if (warmup > 0) stream_check(name, chunk, size, (uint32_t)(warmup - 1));
  p5_begin(0);
  stream_take(name, from, chunk, size, warmup, count);
  p5_end(0);
  stream_check(name, chunk, size, (uint32_t)(warmup + count - 1));
  if (read(from, chunk, 1) != 0) stream_wrong(name, (uint32_t)(warmup + count));
}

#endif
