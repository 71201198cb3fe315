/* SPDX-License-Identifier: MIT */
/*
 * A document tree and a trace of requests for its documents. Both are generated from a seed. The
 * guest's programs and the client on the remote host use this file. It is valid C and C++.
 *
 * chen95 section 5.3 replays 1024 requests to a server of 1995, 9.7 MB in total. (Here 1 MB is 2^20
 * bytes. This unit follows from table 6, which reports 144 KB/s for 69.04 s on NT.) The sizes have
 * the mix of SPECweb96 (SPEC, 1996), which was made from the logs of servers of 1995. The mix has
 * four classes of nine files: class k has files from 100 * 10^k bytes to nine times that size. The
 * classes get 35, 50, 14 and 1 % of the requests. Within a class the middle files get the most
 * requests (here by a Poisson distribution with mean 4). All sizes are then multiplied by one
 * factor, so that the trace has the same number of bytes as in the paper. The n-th directory gets
 * requests in proportion to 1/n, so that few documents get most requests (Arlitt and Williamson,
 * "Web Server Workload Characterization", SIGMETRICS 1996: 10 % of the documents get 90 % of the
 * requests). The number of directories and this distribution are estimates.
 */
#ifndef P5LAB_WEBTRACE_H
#define P5LAB_WEBTRACE_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WEB_PORT 80
#define WEB_REQUESTS_MAX 4096
#define WEB_DIRECTORIES 16
#define WEB_CLASSES 4
#define WEB_FILES 9
#define WEB_DOCUMENTS (WEB_DIRECTORIES * WEB_CLASSES * WEB_FILES)
#define WEB_REQUEST_BYTES 9933 /* bytes of an average request: 9.7 MB / 1024 */
#define WEB_PATH 32

struct web_trace {
  uint32_t requests;
  uint16_t document[WEB_REQUESTS_MAX]; /* document of each request */
  uint32_t size[WEB_DOCUMENTS];        /* 0: not in the trace */
  uint32_t bytes;                      /* bytes of all requests */
};

static inline uint32_t web_random(uint32_t *state, uint32_t below) {
  *state ^= *state << 13; /* xorshift of 32 bits (Marsaglia, 2003) */
  *state ^= *state >> 17;
  *state ^= *state << 5;
  return (uint32_t)(((uint64_t)*state * below) >> 32);
}

/* Draw a random index. The probability of index n is proportional to the n-th weight. */
static inline uint32_t web_weighted(uint32_t *state, const uint16_t *weights, uint32_t count) {
  uint32_t all = 0, drawn;
  for (uint32_t i = 0; i < count; i++) all += weights[i];
  drawn = web_random(state, all);
  for (uint32_t i = 0; i < count; i++) {
    if (drawn < weights[i]) return i;
    drawn -= weights[i];
  }
  return count - 1;
}

static inline uint32_t web_nominal_size(uint32_t document) {
  uint32_t size = 100 * (document % WEB_FILES + 1);
  for (uint32_t k = document / WEB_FILES % WEB_CLASSES; k > 0; k--) size *= 10;
  return size;
}

/* Make a trace of at most WEB_REQUESTS_MAX requests. */
static inline void web_trace_new(struct web_trace *trace, uint32_t requests, uint32_t seed) {
  static const uint16_t classes[WEB_CLASSES] = {35, 50, 14, 1};
  static const uint16_t files[WEB_FILES] = {18, 73, 147, 195, 195, 156, 104, 60, 30};
  uint16_t directories[WEB_DIRECTORIES];
  uint32_t state = (seed + 1) * 2654435761u | 1;
  uint64_t nominal = 0;
  for (uint32_t i = 0; i < WEB_DIRECTORIES; i++) directories[i] = (uint16_t)(5040 / (i + 1));
  memset(trace, 0, sizeof(*trace));
  trace->requests = requests;
  for (uint32_t i = 0; i < requests; i++) {
    uint32_t directory = web_weighted(&state, directories, WEB_DIRECTORIES);
    uint32_t kind = web_weighted(&state, classes, WEB_CLASSES);
    uint32_t file = web_weighted(&state, files, WEB_FILES);
    trace->document[i] = (uint16_t)((directory * WEB_CLASSES + kind) * WEB_FILES + file);
    nominal += web_nominal_size(trace->document[i]);
  }
  for (uint32_t i = 0; i < requests; i++) {
    uint32_t document = trace->document[i];
    trace->size[document] = (uint32_t)((uint64_t)web_nominal_size(document) * requests *
                                       WEB_REQUEST_BYTES / nominal) + 1;
    trace->bytes += trace->size[document];
  }
}

/* Names of a document's directory and of the document, relative to the tree's root. */
static inline void web_directory(char *path, uint32_t document) {
  snprintf(path, WEB_PATH, "dir%02u", (unsigned)(document / WEB_FILES / WEB_CLASSES % WEB_DIRECTORIES));
}

static inline void web_path(char *path, uint32_t document) {
  snprintf(path, WEB_PATH, "dir%02u/class%u_%u.html",
           (unsigned)(document / WEB_FILES / WEB_CLASSES % WEB_DIRECTORIES),
           (unsigned)(document / WEB_FILES % WEB_CLASSES), (unsigned)(document % WEB_FILES));
}

/* The contents of a document. */
static inline unsigned char web_byte(uint32_t document, uint32_t at) {
  return (unsigned char)(document * 131 + at * 7 + (at >> 8) * 13);
}

#endif
