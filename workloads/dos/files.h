/* SPDX-License-Identifier: MIT */
/* Files with names that a program numbers, in the current directory or below it. */
#ifndef P5LAB_DOS_FILES_H
#define P5LAB_DOS_FILES_H

#include "dos.h"

#define NO_DIRECTORY 0xFFFFFFFFu

static char file_name[16];

/* "F123" or, in directory 4, "D4\F123". */
static inline const char *named(uint32_t directory, uint32_t file) {
  char *to = file_name;
  if (directory != NO_DIRECTORY) {
    *to++ = 'D', *to++ = (char)('0' + directory / 10 % 10), *to++ = (char)('0' + directory % 10);
    *to++ = '\\';
  }
  *to++ = 'F';
  for (uint32_t unit = 1000; unit; unit /= 10) *to++ = (char)('0' + file / unit % 10);
  *to = '\0';
  return file_name;
}

/* The name of a directory: "D4". */
static inline const char *directory(uint32_t number) {
  named(number, 0);
  file_name[3] = '\0';
  return file_name;
}

static inline void write_file(const char *name, const uint8_t *bytes, uint32_t size) {
  uint16_t handle = must("create", CREATE, 0, 0, name);
  if (size && must("write", WRITE, handle, (uint16_t)size, bytes) != size) fail("the disk is full");
  must("close", CLOSE, handle, 0, NULL);
}

static inline void read_file(const char *name, uint8_t *bytes, uint32_t size) {
  uint16_t handle = must("open", OPEN, 0, 0, name);
  if (must("read", READ, handle, (uint16_t)size, bytes) != size) fail("a file is short");
  must("close", CLOSE, handle, 0, NULL);
}

/* Each file has other bytes. */
static inline void fill(uint8_t *bytes, uint32_t size, uint32_t file) {
  for (uint32_t i = 0; i < size; i++) bytes[i] = (uint8_t)(i * 7 + i / 256 + file * 31);
}

static inline void check(const uint8_t *bytes, uint32_t size, uint32_t file) {
  for (uint32_t i = 0; i < size; i++)
    if (bytes[i] != (uint8_t)(i * 7 + i / 256 + file * 31)) fail("a file has other bytes");
}

#endif
