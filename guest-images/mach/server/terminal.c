// SPDX-License-Identifier: MIT
/*
 * The terminal on the console (console.c). The kernel delivers raw bytes and echoes nothing. These
 * settings have an effect: ICRNL, ICANON with VERASE, VKILL and VEOF, ECHO and ECHOE, ISIG with
 * VINTR, VQUIT and VSUSP, VMIN 0. The terminal stores all other settings, but they have no effect.
 * The terminal has one foreground process group and one window size.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>

#include "server.h"

#define ROOM 1024 /* bytes that were typed and not read yet */

/* The layout of struct termios in the Linux kernel. */
static struct {
  unsigned input, output, control, local;
  unsigned char line, characters[19];
} settings = {ICRNL, OPOST | ONLCR, CREAD | CS8 | B115200, ISIG | ICANON | ECHO | ECHOE, 0,
              {3, 28, 127, 21, 4, 0, 1, 0, 17, 19, 26}};

/* A program may read up to `ready`. The rest is the line that is being typed. */
static char typed[ROOM];
static size_t ready, used;
static int ended;      /* an end of file on an empty line */
static int foreground; /* group that gets the signals of keys */

static int is_key(unsigned char byte, int which) {
  return byte == settings.characters[which] && byte != 0; /* 0: switched off */
}

static void echo(const char *text, size_t length) {
  if (settings.local & ECHO) console_write(text, length);
}

/* Handle a key that sends a signal: drop the line that is being typed. Returns whether it was such
 * a key.
 */
static int signal_key(unsigned char byte) {
  static const struct {
    int key, signal;
  } known[] = {{VINTR, SIGINT}, {VQUIT, SIGQUIT}, {VSUSP, SIGTSTP}};
  for (size_t i = 0; settings.local & ISIG && i < sizeof(known) / sizeof(*known); i++) {
    if (!is_key(byte, known[i].key)) continue;
    char text[] = {'^', (char)(byte + '@'), '\n'};
    echo(text, sizeof(text));
    used = ready;
    for (int j = 0; foreground && j < PROCESSES; j++)
      if (processes[j].used && processes[j].group == foreground)
        signal_send(&processes[j], known[i].signal);
    return 1;
  }
  return 0;
}

static void erase(int all) {
  while (used > ready) {
    used--;
    if (settings.local & ECHOE) echo("\b \b", 3);
    if (!all) return;
  }
}

static void type(unsigned char byte) {
  if (settings.input & ICRNL && byte == '\r') byte = '\n';
  if (signal_key(byte)) return;
  int lines = settings.local & ICANON;
  if (lines && is_key(byte, VERASE)) {
    erase(0);
  } else if (lines && is_key(byte, VKILL)) {
    erase(1);
  } else if (lines && is_key(byte, VEOF)) {
    ended |= used == ready;
    ready = used;
  } else if (used < ROOM - 1 || (byte == '\n' && used < ROOM)) { /* a line can always end */
    typed[used++] = (char)byte;
    echo(&typed[used - 1], 1);
  }
  if (!lines || byte == '\n') ready = used;
}

void terminal_input(const char *bytes, size_t count) {
  for (size_t i = 0; i < count; i++) type((unsigned char)bytes[i]);
  woken = 1;
}

int terminal_ready(void) { return ready || ended; }

/* Read a line, or the available bytes. */
long terminal_read(const struct process *process, const struct file *file, struct request *request,
                   size_t wanted) {
  if (!foreground) foreground = process->group;
  if (!terminal_ready()) {
    if (!(settings.local & ICANON) && settings.characters[VMIN] == 0) return 0;
    return file->flags & O_NONBLOCK ? -EAGAIN : WOULD_BLOCK;
  }
  size_t count = MIN(wanted, ready);
  const char *end = settings.local & ICANON ? memchr(typed, '\n', count) : NULL;
  if (end) count = (size_t)(end - typed) + 1;
  if (!count) ended = 0; /* the end of file is read */
  memcpy(request->out, typed, count);
  memmove(typed, typed + count, used - count);
  ready -= count;
  used -= count;
  request->out_length = count;
  return (long)count;
}

static void forget_input(void) { ready = used = 0, ended = 0; }

static long set(const struct request *request) {
  if (request->in_length != sizeof(settings)) return -EINVAL;
  memcpy(&settings, request->in, sizeof(settings));
  if (!(settings.local & ICANON)) ready = used; /* an unfinished line may be read */
  woken = 1;
  return 0;
}

static long give(struct request *request, const void *bytes, size_t size) {
  memcpy(request->out, bytes, size);
  request->out_length = size;
  return 0;
}

long terminal_control(const struct process *process, struct request *request) {
  static struct winsize size = {.ws_row = 25, .ws_col = 80};
  switch (request->arguments[1]) {
    case TCGETS: return give(request, &settings, sizeof(settings));
    case TCSETSF: forget_input(); return set(request);
    case TCSETS:
    case TCSETSW: return set(request);
    case TIOCGWINSZ: return give(request, &size, sizeof(size));
    case TIOCSWINSZ:
      if (request->in_length != sizeof(size)) return -EINVAL;
      memcpy(&size, request->in, sizeof(size));
      return 0;
    case FIONREAD: return give(request, &(int){(int)ready}, sizeof(int));
    case TIOCGPGRP:
      return give(request, foreground ? &foreground : &process->group, sizeof(int));
    case TIOCSPGRP:
      if (request->in_length != sizeof(int)) return -EINVAL;
      memcpy(&foreground, request->in, sizeof(int));
      return 0;
    case TCFLSH:
      if (request->arguments[2] != TCOFLUSH) forget_input();
      return 0;
    case TIOCSCTTY:
    case TCSBRK: return 0;
    default: return -ENOTTY;
  }
}
