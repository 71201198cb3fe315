/* SPDX-License-Identifier: MIT */
/*
 * The frame buffer of the guest's video card, for programs that draw by themselves. It has 1024 x
 * 768 pixels. With 8 bits per pixel, the frame buffer is linear. With 1 bit per pixel, the frame
 * buffer is in the first of four planes, and a window of 64 KB shows a part of this plane. The
 * display interface of the emulated card sets the mode (ports 1CEh and 1CFh; vbe_display_api.txt of
 * the VGA BIOS). Standard VGA registers select the plane.
 *
 * In 1995 the display driver, not the program, drew the picture. Linux on x86 only.
 */
#ifndef P5LAB_SCREEN_H
#define P5LAB_SCREEN_H

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#ifdef __i386__
#include <sys/io.h>
#endif

#include "p5w.h"

#define SCREEN_WIDTH 1024
#define SCREEN_HEIGHT 768

struct screen {
  int depth;      /* bits per pixel */
  long row_bytes; /* distance from one row to the next */
  uint8_t *memory;
  int bank; /* with 1 bit per pixel: the bank of 64 KB that the window shows */
};

#ifdef __i386__

enum {
  SCREEN_INDEX_PORT = 0x1CE, SCREEN_DATA_PORT = 0x1CF,
  SCREEN_ID = 0, SCREEN_XRES, SCREEN_YRES, SCREEN_BPP, SCREEN_ENABLE, SCREEN_BANK,
  SCREEN_ID_OLDEST = 0xB0C2, SCREEN_ID_NEWEST = 0xB0CF, /* all of these have linear memory */
  SCREEN_ON = 0x01, SCREEN_LINEAR = 0x40,
  SCREEN_SEQUENCER = 0x3C4, SCREEN_MAP_MASK = 2, SCREEN_MEMORY_MODE = 4,
  SCREEN_GRAPHICS = 0x3CE, SCREEN_SET_RESET = 1, SCREEN_ROTATE = 3, SCREEN_READ_MAP = 4,
  SCREEN_MODE = 5, SCREEN_MISCELLANEOUS = 6, SCREEN_BIT_MASK = 8,
  SCREEN_PLANAR = 0x06, /* all memory, without odd/even mode and without chain-4 mode */
  SCREEN_AT_A0000 = 0x05, /* graphics, 64 KB at A0000h */
};
#define SCREEN_LINEAR_ADDRESS 0xE0000000
#define SCREEN_WINDOW_ADDRESS 0xA0000
#define SCREEN_WINDOW_BYTES 0x10000

static inline void screen_set(int index, int value) {
  outw((unsigned short)index, SCREEN_INDEX_PORT);
  outw((unsigned short)value, SCREEN_DATA_PORT);
}

/* One of the indexed registers of the VGA. */
static inline void screen_register(int port, int index, int value) {
  outw((unsigned short)(value << 8 | index), (unsigned short)port);
}

/* Switch to a mode of `depth` bits per pixel, 1 or 8, and map its memory. Exits with
 * P5W_EXIT_UNAVAILABLE if there is no such card, or if the system does not give programs access to
 * the card.
 */
static inline struct screen screen_open(const char *name, int depth) {
  /* Do not take over the screen of a real machine. */
  int memory = p5_marker_enabled && iopl(3) == 0 ? open("/dev/mem", O_RDWR | O_SYNC) : -1;
  int id = 0;
  if (memory >= 0) {
    outw(SCREEN_ID, SCREEN_INDEX_PORT);
    id = inw(SCREEN_DATA_PORT);
  }
  if (id < SCREEN_ID_OLDEST || id > SCREEN_ID_NEWEST) {
    fprintf(stderr, "%s: needs the guest's video memory, and cannot have it here\n", name);
    exit(P5W_EXIT_UNAVAILABLE);
  }
  screen_set(SCREEN_ENABLE, 0);
  screen_set(SCREEN_XRES, SCREEN_WIDTH);
  screen_set(SCREEN_YRES, SCREEN_HEIGHT);
  screen_set(SCREEN_BPP, depth == 1 ? 4 : 8);
  screen_set(SCREEN_ENABLE, depth == 1 ? SCREEN_ON : SCREEN_ON | SCREEN_LINEAR);
  struct screen screen = {.depth = depth, .row_bytes = SCREEN_WIDTH * depth / 8};
  size_t bytes = SCREEN_WINDOW_BYTES;
  off_t address = SCREEN_WINDOW_ADDRESS;
  if (depth == 1) {
    screen_set(SCREEN_BANK, 0);
    screen_register(SCREEN_SEQUENCER, SCREEN_MAP_MASK, 1);
    screen_register(SCREEN_SEQUENCER, SCREEN_MEMORY_MODE, SCREEN_PLANAR);
    screen_register(SCREEN_GRAPHICS, SCREEN_MISCELLANEOUS, SCREEN_AT_A0000);
    screen_register(SCREEN_GRAPHICS, SCREEN_SET_RESET, 0);
    screen_register(SCREEN_GRAPHICS, SCREEN_ROTATE, 0);
    screen_register(SCREEN_GRAPHICS, SCREEN_READ_MAP, 0);
    screen_register(SCREEN_GRAPHICS, SCREEN_MODE, 0);
    screen_register(SCREEN_GRAPHICS, SCREEN_BIT_MASK, 0xFF);
  } else {
    bytes = SCREEN_WIDTH * SCREEN_HEIGHT;
    address = (off_t)SCREEN_LINEAR_ADDRESS;
  }
  screen.memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, memory, address);
  if (screen.memory == MAP_FAILED) p5w_fail("video memory");
  close(memory);
  return screen;
}

/* Return the address of row `y`. If necessary, moves the window to this row. */
static inline uint8_t *screen_row(struct screen *screen, int y) {
  long at = y * screen->row_bytes;
  if (screen->depth == 8) return screen->memory + at;
  int bank = (int)(at / SCREEN_WINDOW_BYTES);
  if (bank != screen->bank) screen_set(SCREEN_BANK, screen->bank = bank);
  return screen->memory + at % SCREEN_WINDOW_BYTES;
}

#else

static inline struct screen screen_open(const char *name, int depth) {
  fprintf(stderr, "%s: drives the video card of a PC by 32-bit programs only\n", name);
  exit(P5W_EXIT_UNAVAILABLE);
  return (struct screen){.depth = depth};
}

static inline uint8_t *screen_row(struct screen *screen, int y) {
  return screen->memory + y * screen->row_bytes;
}

#endif

#endif
