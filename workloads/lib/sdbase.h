/* SPDX-License-Identifier: MIT */
/*
 * Sdbase's messages and its mix of jobs (wpi92 section 4.2), for the guest's program and for the
 * clients on the remote host. The file is valid C and C++. All requests have one size, and all
 * answers have one size. The first word of a request and of an answer is big-endian (network
 * order).
 *
 * The paper names three operations (read a random record, modify one, append one) and a mix of jobs
 * from the Byte benchmarks. The paper prints neither the size of a record nor the mix. We estimate
 * that a record has 128 bytes. Of ten jobs, six read, three modify and one appends.
 */
#ifndef P5LAB_SDBASE_H
#define P5LAB_SDBASE_H

#include <stdint.h>
#include <string.h>

#define SDBASE_PORT 2101
#define SDBASE_RECORD 128
#define SDBASE_MESSAGE (12 + SDBASE_RECORD) /* operation, record, version; then a record */

enum sdbase_operation { SDBASE_READ, SDBASE_MODIFY, SDBASE_APPEND, SDBASE_END };

struct sdbase_message {
  uint32_t operation, record, version;
  unsigned char contents[SDBASE_RECORD];
};

/* The contents of version v of record n. The server chooses the number of an appended record. But
 * the contents of this record follow from the number that the client sends.
 */
static inline void sdbase_contents(unsigned char *bytes, uint32_t record, uint32_t version) {
  uint32_t seed = record * 2654435761u + version * 2246822519u + 1;
  for (int i = 0; i < SDBASE_RECORD; i++) bytes[i] = (unsigned char)(seed >> (i & 15)) ^ (unsigned char)i;
}

static inline void sdbase_put(unsigned char *to, uint32_t word) {
  for (int i = 0; i < 4; i++) to[i] = (unsigned char)(word >> (24 - 8 * i));
}

static inline uint32_t sdbase_get(const unsigned char *from) {
  return (uint32_t)from[0] << 24 | (uint32_t)from[1] << 16 | (uint32_t)from[2] << 8 | from[3];
}

static inline void sdbase_pack(unsigned char *to, const struct sdbase_message *message) {
  sdbase_put(to, message->operation);
  sdbase_put(to + 4, message->record);
  sdbase_put(to + 8, message->version);
  memcpy(to + 12, message->contents, SDBASE_RECORD);
}

static inline void sdbase_unpack(struct sdbase_message *message, const unsigned char *from) {
  message->operation = sdbase_get(from);
  message->record = sdbase_get(from + 4);
  message->version = sdbase_get(from + 8);
  memcpy(message->contents, from + 12, SDBASE_RECORD);
}

/* Each client has its own generator: xorshift of 32 bits (Marsaglia, 2003). */
static inline uint32_t sdbase_random(uint32_t *state) {
  *state ^= *state << 13;
  *state ^= *state >> 17;
  return *state ^= *state << 5;
}

static inline uint32_t sdbase_seed(uint32_t client) { return (client + 1) * 2654435761u | 1; }

/* Make the next request of a client. The file has `records` records. */
static inline void sdbase_next(struct sdbase_message *message, uint32_t *state, uint32_t records) {
  uint32_t job = sdbase_random(state) % 10;
  message->operation = job < 6 ? SDBASE_READ : job < 9 ? SDBASE_MODIFY : SDBASE_APPEND;
  message->record = sdbase_random(state) % records;
  message->version = message->operation == SDBASE_READ ? 0 : sdbase_random(state);
  memset(message->contents, 0, sizeof(message->contents));
  if (message->operation != SDBASE_READ)
    sdbase_contents(message->contents, message->record, message->version);
}

/* Whether an answer fits its request. The answer to a read contains some version of the record.
 * Other answers contain the version that the client sent.
 */
static inline int sdbase_answers(const struct sdbase_message *answer,
                                 const struct sdbase_message *request) {
  unsigned char expected[SDBASE_RECORD];
  sdbase_contents(expected, request->record, answer->version);
  return answer->operation == request->operation && answer->record == request->record &&
         (request->operation == SDBASE_READ || answer->version == request->version) &&
         memcmp(answer->contents, expected, SDBASE_RECORD) == 0;
}

#endif
