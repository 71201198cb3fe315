/* SPDX-License-Identifier: MIT */
/*
 * memread: cycles of a load that depends on the previous load (chen95 section 4.4, figure 4).
 *
 * Near: each pointer is an offset in the program's own segment, and one instruction follows it. Far:
 * each pointer is a segment and an offset, and one LES follows it, so every load also loads a
 * segment register. The paper's program for Windows executed five instructions for a load, because
 * its compiler could not know when a 64 KB boundary is crossed. The phase is the size of the array
 * in bytes, plus 1 for far pointers. The program walks the array twice before it measures.
 */
#include "dos.h"

#define UNROLL 1000
#define NEAR_MAXIMUM 0x8000u
#define FAR_MAXIMUM 0x80000u /* of the 640 KB that DOS can allocate */
#define STRIDE 128

static uint8_t near_array[NEAR_MAXIMUM] __attribute__((aligned(128)));

/* In: BX is the first pointer, SI the number of blocks of UNROLL loads; far: ES too. */
__asm__(
    ".macro follow load\n"
    "9: .rept 1000\n"
    "  \\load\n"
    "  .endr\n"
    "  decw %si\n"
    "  jnz 9b\n"
    ".endm\n"
    "follow_near:\n  follow \"movw (%bx), %bx\"\n  retl\n"
    "follow_far:\n  follow \"lesw %es:(%bx), %bx\"\n  retl\n");

static void walk_near(uint32_t first, uint32_t blocks) {
  __asm__ volatile("calll follow_near" : "+b"(first), "+S"(blocks) : : "memory", "cc");
}

static void walk_far(uint32_t segment, uint32_t blocks) {
  uint32_t first = 0;
  __asm__ volatile("pushw %%es\n\tmovw %w2, %%es\n\tcalll follow_far\n\tpopw %%es"
                   : "+b"(first), "+S"(blocks)
                   : "r"(segment)
                   : "memory", "cc");
}

static void make_near(uint32_t size) {
  for (uint32_t at = 0; at < size; at += STRIDE)
    *(volatile uint16_t *)(near_array + at) =
        (uint16_t)((uintptr_t)near_array + (at + STRIDE) % size);
}

/* Each pointer of the far array has the offset 0. */
static void make_far(uint32_t segment, uint32_t size) {
  for (uint32_t at = 0; at < size; at += STRIDE) {
    uint32_t next = (segment + (at + STRIDE) % size / 16) << 16;
    uint32_t here = segment + at / 16;
    __asm__ volatile("pushw %%fs\n\tmovw %w0, %%fs\n\tmovl %1, %%fs:0\n\tpopw %%fs"
                     :
                     : "r"(here), "r"(next)
                     : "memory");
  }
}

/* "mem-read near 512 B" or "mem-read far 96 KB", and 1.5 KB */
static void name_size(uint32_t phase, uint32_t size, int is_far) {
  char name[40] = "mem-read near ";
  char *to = name + (is_far ? 13 : 14);
  uint32_t shown = size < 1024 ? size : size / 1024, unit = 1;
  if (is_far) memcpy(name + 9, "far ", 4);
  while (shown / unit >= 10) unit *= 10;
  for (; unit; unit /= 10) *to++ = (char)('0' + shown / unit % 10);
  if (size > 1024 && size % 1024) *to++ = '.', *to++ = '5';
  memcpy(to, size < 1024 ? " B\0" : " KB", 3);
  to[3] = '\0';
  name_phase(phase, name);
}

static uint32_t next_size(uint32_t size) {
  return size & (size - 1) ? size / 3 * 4 : size + size / 2;
}

static void run(void) {
  uint32_t loads = PARAMETER(loads), maximum = PARAMETER(max), blocks = loads / UNROLL;
  if (loads % UNROLL || blocks == 0 || blocks > 0xFFFF) fail("loads: expected a multiple of 1000, at most 65535000");
  if (maximum > FAR_MAXIMUM) fail("max: expected at most 524288 bytes");
  for (uint32_t size = 512; size <= NEAR_MAXIMUM; size = next_size(size)) {
    make_near(size);
    name_size(size, size, 0);
    walk_near((uint32_t)(uintptr_t)near_array, 1);
    begin(size);
    walk_near((uint32_t)(uintptr_t)near_array, blocks);
    end(size);
  }
  keep_one_segment();
  uint32_t segment = must("far array", ALLOCATE, (uint16_t)(maximum / 16 + 8), 0, NULL);
  segment = (segment + 7) & ~7u; /* a multiple of 128 bytes */
  for (uint32_t size = 512; size <= maximum; size = next_size(size)) {
    make_far(segment, size);
    name_size(size + 1, size, 1);
    walk_far(segment, 2 * size / STRIDE / UNROLL + 1);
    begin(size + 1);
    walk_far(segment, blocks);
    end(size + 1);
  }
}
