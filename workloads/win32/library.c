/* SPDX-License-Identifier: MIT */
/*
 * The start of a program for Win32, and the functions of C and of Unix that the workloads call, made
 * of kernel32 alone. A call for a file is one call of kernel32. A program contains only those that it
 * calls.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "marker.h"
#include "win32.h"

#define MOST_ARGUMENTS 32
#define LONGEST_LINE 512

int errno;
int program(int argc, char **argv); /* main() of the program: the compiler would add a call to it */

/* Divides the command line at its spaces. Quotes keep spaces together. */
static int arguments(char *line, char **argv) {
  int count = 0;
  while (count < MOST_ARGUMENTS) {
    while (*line == ' ') line++;
    if (!*line) break;
    char stop = *line == '"' ? *line++ : ' ';
    argv[count++] = line;
    while (*line && *line != stop) line++;
    if (*line) *line++ = '\0';
  }
  return count;
}

void start(void) {
  static char *argv[MOST_ARGUMENTS + 1];
  exit(program(arguments(GetCommandLineA(), argv), argv));
}

void exit(int status) { ExitProcess((uint32_t)status); }

char *getenv(const char *name) {
  static char value[LONGEST_LINE];
  uint32_t length = GetEnvironmentVariableA(name, value, sizeof(value));
  return length && length < sizeof(value) ? value : NULL;
}

/* Every call for memory gets pages of its own. */
void *mmap(void *at, size_t size, int protection, int flags, int descriptor, long offset) {
  (void)at, (void)protection, (void)flags, (void)descriptor, (void)offset;
  void *memory = malloc(size);
  return memory ? memory : MAP_FAILED;
}

void *malloc(size_t size) {
  void *memory = VirtualAlloc(NULL, size, COMMIT_AND_RESERVE, READ_AND_WRITE);
  if (!memory) errno = ENOMEM;
  return memory;
}

int posix_memalign(void **place, size_t alignment, size_t size) {
  (void)alignment; /* at most a page */
  *place = malloc(size);
  return *place ? 0 : ENOMEM;
}

int nanosleep(const struct timespec *time, struct timespec *left) {
  (void)time, (void)left;
  Sleep(1);
  return 0;
}

/* 0 if Windows has done the call, else -1 with the reason in errno. */
static int done(int success) {
  if (success) return 0;
  errno = (int)GetLastError();
  return -1;
}

int open(const char *path, int flags, ...) {
  uint32_t access = flags & O_RDWR ? (uint32_t)(GENERIC_READ | GENERIC_WRITE)
                    : flags & O_WRONLY ? (uint32_t)GENERIC_WRITE
                                       : (uint32_t)GENERIC_READ;
  uint32_t creation = flags & O_CREAT ? flags & O_EXCL    ? CREATE_NEW
                                        : flags & O_TRUNC ? CREATE_ALWAYS
                                                          : OPEN_ALWAYS
                      : flags & O_TRUNC ? TRUNCATE_EXISTING
                                        : OPEN_EXISTING;
  handle file =
      CreateFileA(path, access, SHARE_READ | SHARE_WRITE, NULL, creation, NORMAL_FILE, NULL);
  return done(file != NO_HANDLE) == 0 ? (int)file : -1;
}

ssize_t read(int descriptor, void *bytes, size_t count) {
  uint32_t moved;
  return done(ReadFile((handle)descriptor, bytes, count, &moved, NULL)) == 0 ? (ssize_t)moved : -1;
}

ssize_t write(int descriptor, const void *bytes, size_t count) {
  uint32_t moved;
  return done(WriteFile((handle)descriptor, bytes, count, &moved, NULL)) == 0 ? (ssize_t)moved : -1;
}

int close(int descriptor) { return done(CloseHandle((handle)descriptor)); }
int unlink(const char *path) { return done(DeleteFileA(path)); }
int mkdir(const char *path, int mode) { return (void)mode, done(CreateDirectoryA(path, NULL)); }
int rmdir(const char *path) { return done(RemoveDirectoryA(path)); }
int chdir(const char *path) { return done(SetCurrentDirectoryA(path)); }
void sync(void) {}
int ioctl(int descriptor, unsigned long request, ...) {
  return (void)descriptor, (void)request, errno = ENODEV, -1;
}

/* The compiler may call these two for its own purposes. */
void *memcpy(void *to, const void *from, size_t count) {
  void *first = to;
  __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
  return first;
}

void *memset(void *to, int value, size_t count) {
  void *first = to;
  __asm__ volatile("rep stosb" : "+D"(to), "+c"(count) : "a"(value) : "memory");
  return first;
}

size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length]) length++;
  return length;
}

int strncmp(const char *a, const char *b, size_t count) {
  for (; count; count--, a++, b++)
    if (*a != *b || !*a) return (unsigned char)*a - (unsigned char)*b;
  return 0;
}

int strcmp(const char *a, const char *b) { return strncmp(a, b, SIZE_MAX); }

char *strchr(const char *text, int character) {
  for (;; text++) {
    if (*text == (char)character) return (char *)text;
    if (!*text) return NULL;
  }
}

size_t strcspn(const char *text, const char *stop) {
  size_t length = 0;
  while (text[length] && !strchr(stop, text[length])) length++;
  return length;
}

char *strtok(char *text, const char *separators) {
  static char *rest;
  if (text) rest = text;
  while (*rest && strchr(separators, *rest)) rest++;
  if (!*rest) return NULL;
  char *word = rest;
  rest += strcspn(rest, separators);
  if (*rest) *rest++ = '\0';
  return word;
}

static int digit(char character) {
  if (character >= '0' && character <= '9') return character - '0';
  if (character >= 'a' && character <= 'f') return character - 'a' + 10;
  return 36;
}

long strtol(const char *text, char **end, int base) {
  int negative = *text == '-';
  uint32_t value = 0;
  text += negative;
  if (!base) base = text[0] == '0' && text[1] == 'x' ? 16 : 10;
  if (base == 16 && text[0] == '0' && text[1] == 'x') text += 2;
  for (; digit(*text) < base; text++) {
    if (value > (INT32_MAX - (uint32_t)digit(*text)) / (uint32_t)base) errno = EINVAL;
    value = value * (uint32_t)base + (uint32_t)digit(*text);
  }
  if (end) *end = (char *)text;
  return negative ? -(long)value : (long)value;
}

int atoi(const char *text) { return (int)strtol(text, NULL, 10); }

/* A text that grows up to a size. `length` is what it would have without the limit. */
struct text {
  char *to;
  size_t size, length;
};

static void add(struct text *text, char character) {
  if (text->length + 1 < text->size) text->to[text->length] = character;
  text->length++;
}

static void add_number(struct text *text, uint32_t number, uint32_t base) {
  char digits[10];
  int count = 0;
  do digits[count++] = "0123456789abcdef"[number % base];
  while (number /= base);
  while (count) add(text, digits[--count]);
}

/* The conversions that the workloads use: %s %d %ld %u %x %#x %%. */
static size_t print(char *to, size_t size, const char *format, va_list values) {
  struct text text = {to, size, 0};
  for (; *format; format++) {
    if (*format != '%') {
      add(&text, *format);
      continue;
    }
    do format++;
    while (*format == 'l' || *format == '#');
    if (*format == 's') {
      for (const char *from = va_arg(values, const char *); *from; from++) add(&text, *from);
    } else if (*format == '%') {
      add(&text, '%');
    } else {
      uint32_t number = va_arg(values, uint32_t);
      if (*format == 'd' && (int32_t)number < 0) add(&text, '-'), number = 0 - number;
      if (*format == 'x') add(&text, '0'), add(&text, 'x');
      add_number(&text, number, *format == 'x' ? 16 : 10);
    }
  }
  if (size) to[text.length < size ? text.length : size - 1] = '\0';
  return text.length;
}

int snprintf(char *to, size_t size, const char *format, ...) {
  va_list values;
  va_start(values, format);
  size_t length = print(to, size, format, values);
  va_end(values);
  return (int)length;
}

int fprintf(void *stream, const char *format, ...) {
  char line[LONGEST_LINE];
  va_list values;
  (void)stream;
  va_start(values, format);
  print(line, sizeof(line), format, values);
  va_end(values);
  size_t length = strlen(line);
  p5_marker_init();
  p5_output(2, line, length);
  write((int)GetStdHandle(STANDARD_ERROR), line, length);
  return (int)length;
}

char *strerror(int error) {
  static char text[32];
  snprintf(text, sizeof(text), "error %d of Windows", error);
  return text;
}
