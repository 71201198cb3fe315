// SPDX-License-Identifier: MIT
/*
 * phases: an application with phases that are long enough for sampled simulation to distinguish
 * (docs/concepts/simpoint.md). Each round counts words in a hash table, sorts, multiplies matrices,
 * copies more data than the caches hold, and makes system calls. Each of these phases executes
 * about 10 million instructions. Phase 0 brackets all rounds.
 */
#include <sys/stat.h>
#include <unistd.h>

#include "p5w.h"

#define TEXT (64 << 10)
#define WORDS 4096 /* a power of two, larger than 12^3, the number of different words */
#define RECORDS 16384
#define ORDER 96
#define BUFFER (256 << 10) /* words: 1 MB */

static unsigned state = 1;
static volatile unsigned sink; /* uses the results, so that the compiler keeps the code */

static unsigned next_random(void) {
  state = state * 1664525u + 1013904223u;
  return state >> 16;
}

static char text[TEXT];
static struct {
  unsigned hash, count;
} table[WORDS];

static void count_words(void) {
  for (int i = 0; i < TEXT; i++) text[i] = i % 4 == 3 ? ' ' : (char)('a' + next_random() % 12);
  for (int pass = 0; pass < 14; pass++) {
    unsigned hash = 2166136261u;
    for (int i = 0; i < TEXT; i++) {
      if (text[i] != ' ') {
        hash = (hash ^ (unsigned char)text[i]) * 16777619u;
        continue;
      }
      unsigned slot = hash % WORDS;
      while (table[slot].count && table[slot].hash != hash) slot = (slot + 1) % WORDS;
      table[slot].hash = hash;
      sink = ++table[slot].count;
      hash = 2166136261u;
    }
  }
}

static struct {
  unsigned key, value;
} records[RECORDS];

static int compare(const void *a, const void *b) {
  const unsigned x = *(const unsigned *)a, y = *(const unsigned *)b;
  return (x > y) - (x < y);
}

static void sort(void) {
  for (unsigned i = 0; i < RECORDS; i++) records[i].key = next_random(), records[i].value = i;
  qsort(records, RECORDS, sizeof records[0], compare);
  sink = records[RECORDS / 2].value;
}

static double left[ORDER][ORDER], right[ORDER][ORDER], product[ORDER][ORDER];

static void multiply(void) {
  for (int i = 0; i < ORDER; i++) {
    for (int j = 0; j < ORDER; j++) {
      left[i][j] = next_random() / 65536.0;
      right[i][j] = next_random() / 65536.0;
    }
  }
  for (int i = 0; i < ORDER; i++) {
    for (int j = 0; j < ORDER; j++) {
      double sum = 0;
      for (int k = 0; k < ORDER; k++) sum += left[i][k] * right[k][j];
      product[i][j] = sum;
    }
  }
  sink = (unsigned)product[ORDER / 2][ORDER / 2];
}

static unsigned from[BUFFER], to[BUFFER];

static void copy(void) {
  for (int pass = 0; pass < 8; pass++) {
    unsigned sum = 0;
    for (int i = 0; i < BUFFER; i++) sum += to[i] = from[i] + (unsigned)pass;
    sink = sum;
  }
}

static void call(void) {
  char buffer[512];
  struct stat status;
  int ends[2];
  if (pipe(ends) != 0) p5w_fail("pipe");
  for (int i = 0; i < 3000; i++) {
    if (write(ends[1], text, sizeof buffer) != sizeof buffer) p5w_fail("write");
    if (read(ends[0], buffer, sizeof buffer) != sizeof buffer) p5w_fail("read");
    if (stat("/", &status) != 0) p5w_fail("stat");
  }
  close(ends[0]);
  close(ends[1]);
}

int main(int argc, char **argv) {
  long rounds = 1;
  const struct p5w_option options[] = {
      {"rounds", "times all phases, some 50 million instructions", &rounds, 1, NULL}, {0}};
  p5w_start(argc, argv, options);
  p5w_await_tick();
  p5_begin(0);
  for (long i = 0; i < rounds; i++) {
    count_words();
    sort();
    multiply();
    copy();
    call();
  }
  p5_end(0);
  return 0;
}
