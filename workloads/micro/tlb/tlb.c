// SPDX-License-Identifier: MIT
/*
 * tlb: the cost of an access to a page that the translation lookaside buffers do not hold.
 * Dependent loads or jumps go from page to page, and from the last page back to the first. The
 * number of pages grows. The program uses a different cache line in each page, so that the L1
 * caches hold all lines.
 *
 * The phase is 1000 + pages for loads and 2000 + pages for jumps. In the phases 3000 + pages
 * (loads) and 4000 + pages (jumps), all pages are in one set of the data TLB (16 pages apart) or of
 * the code TLB (8 pages apart).
 */
#include <sys/mman.h>

#include "p5w.h"

#define PAGE 4096
#define LINE 32
#define PAGES_MAX 128 /* the number of lines in a page */

static unsigned char *memory; /* PAGES_MAX pages */
static long accesses = 8000;

/* These variables describe the measured round. An iteration of a workload has no arguments, so it
 * reads them from here.
 */
static uint32_t phase;
static long pages, apart;

/* The cache line of page `i` of the round. */
static unsigned char *line(long i) { return memory + i * apart * PAGE + i * LINE; }

/* Exit unless the walk ended at the right address. */
static void check(const char *what, int right) {
  if (right) return;
  fprintf(stderr, "tlb: %s over %ld pages ended at a wrong place\n", what, pages);
  exit(P5W_EXIT_FAILED);
}

static void loads(void) {
  void *at = line(0);
  p5_begin(phase);
  for (long i = accesses; i > 0; i--) __asm__ volatile("mov (%0), %0" : "+r"(at) : : "memory");
  p5_end(phase);
  check("loads", at == line(accesses % pages));
}

static void make_loads(void) {
  for (long i = 0; i < pages; i++) {
    void *next = line((i + 1) % pages);
    memcpy(line(i), &next, sizeof(next));
  }
}

#if defined(__i386__) || defined(__x86_64__)
#ifdef __i386__
#define DEC_ECX "\x49"
#else
#define DEC_ECX "\xFF\xC9"
#endif
enum { JUMP = sizeof(DEC_ECX) - 1 + 2, OUT = JUMP + 5, END = OUT + 6 }; /* offsets in its code */

static void jumps(void) {
  long last, left = accesses;
  p5_begin(phase);
  __asm__ volatile("call *%2" : "=a"(last), "+c"(left) : "r"(line(0)) : "memory", "cc");
  p5_end(phase);
  check("jumps", last == (accesses - 1) % pages);
}

/* The code of page `i`. The code is not always at the beginning of its line, because the lowest 6
 * bits of an address select the set of the branch target buffer.
 */
static unsigned char *code(long i) { return line(i) + i / 2 % (LINE - END); }

/* In each page: dec %ecx; jz out; jmp NEXT; out: mov $PAGE, %eax; ret */
static void make_jumps(void) {
  for (long i = 0; i < pages; i++) {
    unsigned char *at = code(i);
    int32_t number = (int32_t)i, distance = (int32_t)(code((i + 1) % pages) - (at + OUT));
    memcpy(at, DEC_ECX "\x74\x05\xE9", JUMP + 1);
    memcpy(at + JUMP + 1, &distance, sizeof(distance));
    at[OUT] = 0xB8;
    memcpy(at + OUT + 1, &number, sizeof(number));
    at[OUT + 5] = 0xC3;
  }
}
#endif

static void measure(uint32_t first, long so_many, long so_far, void (*make)(void),
                    void (*walk)(void)) {
  phase = first + (uint32_t)so_many;
  pages = so_many;
  apart = so_far;
  make();
  p5w_repeat(walk, 1, 1);
}

int main(int argc, char **argv) {
  const struct p5w_option options[] = {
      {"accesses", "loads or jumps of a phase", &accesses, 1, NULL}, {0}};
  p5w_start(argc, argv, options);
  memory = mmap(NULL, PAGES_MAX * PAGE, PROT_READ | PROT_WRITE | PROT_EXEC,
                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) p5w_fail("mmap");

  static const long data_pages[] = {8, 16, 32, 48, 64, 65, 68, 72, 80, 96, 128};
  for (size_t i = 0; i < sizeof(data_pages) / sizeof(*data_pages); i++)
    measure(1000, data_pages[i], 1, make_loads, loads);
  for (long i = 4; i <= 5; i++) measure(3000, i, 16, make_loads, loads);
#if defined(__i386__) || defined(__x86_64__)
  static const long code_pages[] = {4, 8, 16, 24, 32, 33, 34, 36, 40, 48, 64};
  for (size_t i = 0; i < sizeof(code_pages) / sizeof(*code_pages); i++)
    measure(2000, code_pages[i], 1, make_jumps, jumps);
  for (long i = 4; i <= 5; i++) measure(4000, i, 8, make_jumps, jumps);
#endif
  return 0;
}
