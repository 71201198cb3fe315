/* SPDX-License-Identifier: MIT */
/*
 * A client of the X server with one window, which shows pictures of 1 bit a dot. It hands over each
 * picture whole, in one request. It speaks the X protocol itself [X Window System Protocol, version
 * 11, appendix B], because a static program cannot use Debian's Xlib.
 */
#ifndef P5LAB_XCLIENT_H
#define P5LAB_XCLIENT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { X_CREATE_WINDOW = 1, X_MAP_WINDOW = 8, X_GET_INPUT_FOCUS = 43, X_CREATE_GC = 55 };
enum { X_PUT_IMAGE = 72 };

static struct {
  int socket;
  uint32_t window, context, white, black;
} x_client;

/* Read or write all bytes. Returns 0 if the connection has ended. */
static int x_read(void *bytes, size_t size) {
  for (char *at = bytes; size > 0;) {
    ssize_t part = read(x_client.socket, at, size);
    if (part <= 0) return 0;
    at += part, size -= (size_t)part;
  }
  return 1;
}

static int x_write(const void *bytes, size_t size) {
  for (const char *at = bytes; size > 0;) {
    ssize_t part = write(x_client.socket, at, size);
    if (part <= 0) return 0;
    at += part, size -= (size_t)part;
  }
  return 1;
}

static uint32_t x_number(const uint8_t *bytes, int size) {
  uint32_t number = 0;
  while (size-- > 0) number = number << 8 | bytes[size];
  return number;
}

/* Open the connection and the window. Returns 0 if there is no server. */
static int x_open(uint32_t width, uint32_t height) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  const char *display = getenv("DISPLAY");
  snprintf(address.sun_path, sizeof(address.sun_path), "/tmp/.X11-unix/X%d",
           display && *display == ':' ? atoi(display + 1) : 0);
  x_client.socket = socket(AF_UNIX, SOCK_STREAM, 0);
  if (connect(x_client.socket, (struct sockaddr *)&address, sizeof(address)) != 0) return 0;
  static const uint8_t hello[12] = {'l', 0, 11}; /* the lowest byte first; version 11 */
  uint8_t head[8];
  if (!x_write(hello, sizeof(hello)) || !x_read(head, sizeof(head)) || head[0] != 1) return 0;
  size_t size = 4 * x_number(head + 6, 2);
  uint8_t *setup = malloc(size);
  if (!setup || !x_read(setup, size)) return 0;
  const uint8_t *screen = setup + 32 + (x_number(setup + 16, 2) + 3) / 4 * 4 + 8 * setup[21];
  uint32_t root = x_number(screen, 4);
  x_client.window = x_number(setup + 4, 4);
  x_client.context = x_client.window + 1;
  x_client.white = x_number(screen + 8, 4);
  x_client.black = x_number(screen + 12, 4);
  free(setup);
  const uint32_t requests[] = {
      /* parent, place, size and border; class and visual of the parent; a white background that the
       * server does not change when other windows go */
      X_CREATE_WINDOW | 9 << 16, x_client.window, root, 0, width | height << 16, 0, 0, 1 << 1,
      x_client.white,
      /* the foreground and the background */
      X_CREATE_GC | 6 << 16, x_client.context, x_client.window, 1 << 2 | 1 << 3, x_client.black,
      x_client.white, X_MAP_WINDOW | 2 << 16, x_client.window};
  return x_write(requests, sizeof(requests));
}

/* Show a picture whose rows begin at a byte and whose leftmost dot is the highest bit of a byte, as
 * in the format PBM. Returns after the server has drawn the picture, or 0 if there is no server.
 */
static int x_show(const uint8_t *bits, uint32_t width, uint32_t height) {
  uint32_t from = (width + 7) / 8, to = (width + 31) / 32 * 4; /* bytes of a row */
  uint32_t length = 6 + to / 4 * height;
  uint32_t head[6] = {X_PUT_IMAGE | length << 16,
                      x_client.window,
                      x_client.context,
                      width | height << 16,
                      0,
                      1 << 8 /* depth */};
  static uint8_t picture[4 * 65536];
  uint8_t reply[32];
  if (length > 65535) return 0;
  memset(picture, 0, to * height);
  for (uint32_t y = 0; y < height; y++)
    for (uint32_t x = 0; x < from; x++) {
      /* The server has the leftmost dot in the lowest bit. */
      uint32_t byte = bits[y * from + x];
      byte = (byte & 0x55) << 1 | (byte & 0xaa) >> 1;
      byte = (byte & 0x33) << 2 | (byte & 0xcc) >> 2;
      picture[y * to + x] = (uint8_t)(byte << 4 | byte >> 4);
    }
  static const uint32_t question = X_GET_INPUT_FOCUS | 1 << 16;
  if (!x_write(head, sizeof(head)) || !x_write(picture, to * height) ||
      !x_write(&question, sizeof(question)) || !x_read(reply, sizeof(reply)))
    return 0;
  return reply[0] == 1; /* a reply, and no error */
}

#endif
