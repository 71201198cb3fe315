/* SPDX-License-Identifier: MIT */
/*
 * SXipc's script (wpi92 section 4.5), for the guest's program and for the clients on the remote
 * host. The file is valid C and C++. A client sends a batch of requests, like Xlib when it flushes
 * its buffer. The client waits if the script defines a reply or an event for the batch.
 *
 * The paper uses eight types of clients from Droms and Dyksen ("Performance Measurements of the X
 * Window System Communication Protocol", Software Practice and Experience 20, 1990). The paper does
 * not print the patterns of these clients. The patterns here are estimates, in the units of the
 * protocol: a reply or an event has 32 bytes, and Xlib's buffer has 2048 bytes (X11R5).
 */
#ifndef P5LAB_SXIPC_H
#define P5LAB_SXIPC_H

#include <stdint.h>

#define SXIPC_PORT 6000
#define SXIPC_HEADER 8 /* sizes of the batch (with this header) and of its answer, big-endian */
#define SXIPC_BATCH_MAX 4096
#define SXIPC_END 0xffffffffu /* answer size in a client's last batch: the answer is the sum */
#define SXIPC_STEPS_MAX 8

struct sxipc_step {
  uint16_t batch;  /* bytes that the client sends, at least the header */
  uint16_t answer; /* bytes of replies and events for which it then waits */
};

struct sxipc_type {
  const char *name;
  int count; /* number of steps; the script repeats them */
  struct sxipc_step steps[SXIPC_STEPS_MAX];
};

#define SXIPC_TYPES 8
static const struct sxipc_type sxipc_types[SXIPC_TYPES] = {
    /* A page of a document: glyphs as small images, in full buffers, then a key. */
    {"dvi", 8, {{2048, 0}, {2048, 0}, {2048, 0}, {2048, 0}, {2048, 0}, {2048, 0}, {1024, 32}, {64, 32}}},
    /* A typist: a key, and its echo. */
    {"terminal", 2, {{64, 32}, {96, 32}}},
    /* A listing that scrolls: lines of text, an exposure event after each scroll. */
    {"scroll", 3, {{1600, 32}, {1600, 32}, {400, 32}}},
    /* An editor: keys, each of which redraws one or two lines. */
    {"editor", 4, {{128, 32}, {320, 32}, {128, 64}, {960, 32}}},
    /* Line drawings: full buffers of segments. */
    {"plot", 4, {{2048, 0}, {2048, 0}, {2048, 0}, {512, 32}}},
    /* A window manager: one query and its answer at a time. */
    {"manager", 6, {{16, 32}, {16, 64}, {24, 32}, {40, 0}, {16, 32}, {64, 96}}},
    /* A clock: a few lines, then a wait for the next event. */
    {"clock", 1, {{192, 32}}},
    /* A picture: requests that fill Xlib's buffer, one after the other. */
    {"picture", 3, {{4096, 0}, {4096, 0}, {4096, 32}}},
};

static inline void sxipc_put(unsigned char *to, uint32_t word) {
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(word >> (24 - 8 * i));
}

static inline uint32_t sxipc_get(const unsigned char *from) {
  return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

/* Write the n-th batch of a client. Returns its size in bytes. *answer: bytes of the answer. */
static inline uint32_t sxipc_batch(unsigned char *to, const struct sxipc_type *type, uint32_t client,
                                   uint32_t n, uint32_t *answer) {
  const struct sxipc_step *step = &type->steps[n % (uint32_t)type->count];
  *answer = step->answer;
  sxipc_put(to, step->batch);
  sxipc_put(to + 4, step->answer);
  for (uint32_t i = SXIPC_HEADER; i < step->batch; i++) to[i] = (unsigned char)(i * 7 + n + client);
  return step->batch;
}

/* Write the last batch of a client. Its answer is a word: the sum of all bytes of its batches. */
static inline uint32_t sxipc_last(unsigned char *to) {
  sxipc_put(to, SXIPC_HEADER);
  sxipc_put(to + 4, SXIPC_END);
  return SXIPC_HEADER;
}

static inline uint32_t sxipc_sum(const unsigned char *bytes, uint32_t size) {
  uint32_t sum = 0;
  for (uint32_t i = 0; i < size; i++) sum += bytes[i];
  return sum;
}

static inline unsigned char sxipc_answer_byte(uint32_t at) { return (unsigned char)(at * 5 + 1); }

#endif
