// SPDX-License-Identifier: MIT
/*
 * bitblt: scroll a picture through a window (chen95 section 4.6, figure 8: an array of 570 x 1520
 * pixels in a window of 570 x 760, drawn 760 times, each time one row further down). Phase 0
 * brackets all frames.
 *
 * path=direct: the program copies each row from its array to the frame buffer by repeated string
 * instructions, as a display driver in the kernel does (Windows, NT). With depth=8 the array also
 * has 8 bits per pixel (section 5.2).
 *
 * path=server: the program copies the picture, with one bit per pixel, into a request. It sends the
 * request to a display server through a socket. The frame buffer has 8 bits per pixel. The server
 * is written in C. The server expands every group of four bits to one word of four pixels, one word
 * at a time (NetBSD with X11). With depth=1 it only copies.
 *
 * Afterwards the program reads the window back and compares it with the array.
 */
#include <sys/socket.h>

#include "child.h"
#include "screen.h"
#include "string1995.h"

enum { WIDTH = 570, ROWS = 1520, WINDOW = 760 };
enum path { DIRECT, SERVER };
static const char *const choices[] = {"direct", "server", NULL};

static uint8_t *picture;
static long row_bytes; /* bytes of a row of the array: whole words */
static struct screen screen;
static uint32_t pixels[16]; /* four pixels of 8 bits, by four of 1 bit; leftmost bit first */

/* The rows of the array are random, so that all rows differ. */
static void draw_picture(int depth) {
  row_bytes = (WIDTH * depth + 31) / 32 * 4;
  picture = malloc((size_t)(row_bytes * ROWS));
  if (!picture) p5w_fail("picture");
  uint32_t random = 1995;
  for (long i = 0; i < row_bytes * ROWS; i++) {
    random = random * 1664525u + 1013904223u;
    picture[i] = (uint8_t)(random >> 24);
  }
}

static void copy_frame(long first) {
  const uint8_t *row = picture + first * row_bytes;
  for (int y = 0; y < WINDOW; y++, row += row_bytes)
    memcpy_1995(screen_row(&screen, y), row, (size_t)row_bytes);
}

static void make_pixels(void) {
  for (int bits = 0; bits < 16; bits++)
    for (int i = 0; i < 4; i++)
      if (bits & 8 >> i) pixels[bits] |= 0xFFu << 8 * i;
}

/* The last word of a row has pixels outside of the window. The side that draws the row does not
 * draw these pixels.
 */
static void expand_frame(const uint8_t *row) {
  for (int y = 0; y < WINDOW; y++, row += row_bytes) {
    volatile uint32_t *to = (volatile uint32_t *)screen_row(&screen, y);
    for (int x = 0; x < WIDTH; x += 8) {
      uint8_t bits = row[x / 8];
      *to++ = pixels[bits >> 4];
      if (x + 4 < WIDTH) *to++ = pixels[bits & 15];
    }
  }
}

static void transfer(int socket, uint8_t *buffer, long size, int out) {
  for (long done = 0; done < size;) {
    ssize_t moved = out ? write(socket, buffer + done, (size_t)(size - done))
                        : read(socket, buffer + done, (size_t)(size - done));
    if (moved <= 0) p5w_fail("socket");
    done += moved;
  }
}

/* The display server. It draws `frames` requests and then sends an answer. */
static void serve(int socket, long frames) {
  long size = row_bytes * WINDOW;
  uint8_t *request = malloc((size_t)size), done = 1;
  if (!request) p5w_fail("request");
  for (long i = 0; i < frames; i++) {
    transfer(socket, request, size, 0);
    if (screen.depth == 8) {
      expand_frame(request);
    } else {
      for (int y = 0; y < WINDOW; y++)
        memcpy_1995(screen_row(&screen, y), request + y * row_bytes, (size_t)row_bytes);
    }
  }
  transfer(socket, &done, 1, 1);
}

static void show_by_server(int socket, long frames) {
  long size = row_bytes * WINDOW;
  uint32_t *request = malloc((size_t)size);
  uint8_t done;
  if (!request) p5w_fail("request");
  p5_begin(0);
  for (long i = 0; i < frames; i++) {
    const uint32_t *from = (const uint32_t *)(picture + i * row_bytes);
    for (long k = 0; k < size / 4; k++) ((volatile uint32_t *)request)[k] = from[k];
    transfer(socket, (uint8_t *)request, size, 1);
  }
  transfer(socket, &done, 1, 0);
  p5_end(0);
}

/* The frame buffer's value for the pixel in column x of a row of the array. */
static int expected(const uint8_t *row, int x, int expanded) {
  if (!expanded) return screen.depth == 8 ? row[x] : row[x / 8] >> (7 - x % 8) & 1;
  return row[x / 8] >> (7 - x % 8) & 1 ? 0xFF : 0;
}

static int shown(const uint8_t *row, int x) {
  return screen.depth == 8 ? row[x] : row[x / 8] >> (7 - x % 8) & 1;
}

/* Compare the window with the part of the array that begins with row `first`. */
static void check(long first, int expanded) {
  for (int y = 0; y < WINDOW; y++) {
    uint8_t row[WIDTH + 7];
    memcpy(row, screen_row(&screen, y), (size_t)((WIDTH * screen.depth + 7) / 8));
    for (int x = 0; x < WIDTH; x++) {
      if (shown(row, x) == expected(picture + (first + y) * row_bytes, x, expanded)) continue;
      fprintf(stderr, "bitblt: row %d, column %d of the window is wrong\n", y, x);
      exit(1);
    }
  }
}

int main(int argc, char **argv) {
  long frames = 760, path = DIRECT, depth = 1;
  const struct p5w_option options[] = {
      {"frames", "times that the window is drawn, at most 760", &frames, 1, NULL},
      {"path", "direct or server", &path, 0, choices},
      {"depth", "bits a pixel of the frame buffer, 1 or 8", &depth, 1, NULL},
      {0}};
  p5w_start(argc, argv, options);
  if ((depth != 1 && depth != 8) || frames > ROWS - WINDOW) {
    fprintf(stderr, "%s: expected a depth of 1 or 8, and at most %d frames\n", argv[0],
            ROWS - WINDOW);
    return P5W_EXIT_USAGE;
  }
  screen = screen_open("bitblt", (int)depth);
  draw_picture(path == SERVER ? 1 : (int)depth);
  make_pixels();

  if (path == DIRECT) {
    copy_frame(0);
    p5w_await_tick();
    p5_begin(0);
    for (long i = 0; i < frames; i++) copy_frame(i);
    p5_end(0);
  } else {
    int sockets[2];
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, sockets) != 0) p5w_fail("socket");
    pid_t server = fork();
    if (server < 0) p5w_fail("fork");
    if (server == 0) {
      serve(sockets[1], frames);
      _exit(0);
    }
    p5w_await_tick();
    show_by_server(sockets[0], frames);
    child_wait(server);
  }
  screen.bank = -1; /* the server may have moved the window */
  check(frames - 1, path == SERVER && depth == 8);
  return 0;
}
