/* SPDX-License-Identifier: MIT */
/*
 * bitblt: scroll a picture through a window (chen95 section 4.6, figure 8). The picture has 570 x
 * 1520 pixels of 1 bit, and the window 570 x 760. For each frame, the program copies 760 rows from
 * its array to the frame buffer by repeated string instructions, each frame one row further down.
 * Phase 64 brackets all frames. Afterwards the program compares the window with the array.
 *
 * The frame buffer is that of workloads/lib/screen.h: 1024 x 768 pixels in the first of four planes,
 * behind a window of 64 KB at A0000h. All addresses are a segment and an offset, and no offset of a
 * row exceeds its segment.
 */
#include "dos.h"

enum { ROWS = 1520, WINDOW = 760, ROW_BYTES = 72, SCREEN_BYTES = 1024 / 8 };
#define VIDEO 0xA000u
#define WINDOW_BYTES 0x10000u
/* The display interface of the emulated card (vbe_display_api.txt of the VGA BIOS). */
enum { INDEX_PORT = 0x1CE, DATA_PORT = 0x1CF };
enum { XRES = 1, YRES, BPP, ENABLE, BANK };
enum { SEQUENCER = 0x3C4, GRAPHICS = 0x3CE }; /* standard registers of the VGA */

static uint32_t picture; /* the segment of the first row */
static uint32_t bank;    /* the 64 KB that the window shows */

static void out(uint16_t port, uint16_t value) {
  __asm__ volatile("outw %0, %1" : : "a"(value), "d"(port));
}

static void set(uint16_t index, uint16_t value) {
  out(INDEX_PORT, index);
  out(DATA_PORT, value);
}

static void select_bank(uint32_t wanted) {
  if (wanted != bank) set(BANK, (uint16_t)(bank = wanted));
}

static void open_screen(void) {
  set(ENABLE, 0), set(XRES, 1024), set(YRES, 768), set(BPP, 4), set(ENABLE, 1), set(BANK, 0);
  out(SEQUENCER, 0x0102); /* write to the first plane */
  out(SEQUENCER, 0x0604); /* all memory, one byte after the other */
  out(GRAPHICS, 0x0506);  /* graphics, 64 KB at A0000h */
  out(GRAPHICS, 0x0001), out(GRAPHICS, 0x0003), out(GRAPHICS, 0x0004); /* read the first plane */
  out(GRAPHICS, 0x0005), out(GRAPHICS, 0xFF08); /* bytes go through as they are */
}

static void close_screen(void) {
  set(ENABLE, 0);
  __asm__ volatile("int $0x10\n\tmovzwl %%sp, %%esp" : : "a"(0x0003) : "memory", "cc"); /* text */
}

/* Copies a row of the picture to a row of the screen. */
static void copy_row(uint32_t row, uint32_t y) {
  uint32_t from = row * ROW_BYTES, to = y * SCREEN_BYTES, words = ROW_BYTES / 4;
  select_bank(to / WINDOW_BYTES);
  uint32_t segment = picture + from / 16, source = from % 16, place = to % WINDOW_BYTES;
  __asm__ volatile(
      "pushw %%ds\n\tpushw %%es\n\tmovw %w3, %%es\n\tmovw %w4, %%ds\n\t"
      "rep movsl\n\tpopw %%es\n\tpopw %%ds"
      : "+S"(source), "+D"(place), "+c"(words)
      : "r"(VIDEO), "r"(segment)
      : "memory", "cc");
}

static uint8_t byte_at(uint32_t segment, uint32_t offset) {
  uint8_t byte;
  __asm__ volatile("pushw %%fs\n\tmovw %w1, %%fs\n\tmovb %%fs:(%w2), %0\n\tpopw %%fs"
                   : "=q"(byte)
                   : "r"(segment), "b"(offset)
                   : "memory");
  return byte;
}

static void put_byte(uint32_t segment, uint32_t offset, uint8_t byte) {
  __asm__ volatile("pushw %%fs\n\tmovw %w1, %%fs\n\tmovb %0, %%fs:(%w2)\n\tpopw %%fs"
                   :
                   : "q"(byte), "r"(segment), "b"(offset)
                   : "memory");
}

/* The rows are random, so that all rows differ. */
static void draw_picture(void) {
  uint32_t random = 1995;
  for (uint32_t at = 0; at < ROWS * ROW_BYTES; at++) {
    random = random * 1664525u + 1013904223u;
    put_byte(picture + at / 16, at % 16, (uint8_t)(random >> 24));
  }
}

static void check(uint32_t first) {
  for (uint32_t y = 0; y < WINDOW; y++) {
    uint32_t to = y * SCREEN_BYTES;
    select_bank(to / WINDOW_BYTES);
    for (uint32_t x = 0; x < ROW_BYTES; x++) {
      uint32_t from = (first + y) * ROW_BYTES + x;
      if (byte_at(VIDEO, to % WINDOW_BYTES + x) == byte_at(picture + from / 16, from % 16)) continue;
      close_screen();
      fail("a row of the window is wrong");
    }
  }
}

static void run(void) {
  uint32_t frames = PARAMETER(frames);
  if (frames < 1 || frames > ROWS - WINDOW) fail("frames: expected 1 to 760");
  name_phase(64, "bitblt, all frames");
  keep_one_segment();
  picture = must("picture", ALLOCATE, ROWS * ROW_BYTES / 16, 0, NULL);
  draw_picture();
  open_screen();
  for (uint32_t y = 0; y < WINDOW; y++) copy_row(y, y);
  begin(64);
  for (uint32_t frame = 0; frame < frames; frame++)
    for (uint32_t y = 0; y < WINDOW; y++) copy_row(frame + y, y);
  end(64);
  check(frames - 1);
  close_screen();
}
