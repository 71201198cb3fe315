// SPDX-License-Identifier: MIT
/*
 * test-terminal: the console as a terminal. On the console, the program prints a description
 * of the input that it waits for. On its output, it prints the bytes that it has read.
 * tests/e2e/test_mach.py types the input. The same source runs on guest linux.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

static int console;

static void say(const char *text) { (void)!write(console, text, strlen(text)); }

/* Read once, and print the result. */
static void show(const char *what) {
  char bytes[64];
  ssize_t count = read(console, bytes, sizeof(bytes));
  printf("%s: %d", what, (int)count);
  for (ssize_t i = 0; i < count; i++) printf(" %02x", (unsigned char)bytes[i]);
  printf("\n");
}

static void set(unsigned without, unsigned with) {
  struct termios now;
  if (tcgetattr(console, &now) != 0) printf("wrong: tcgetattr\n");
  now.c_lflag = (now.c_lflag & ~without) | with;
  now.c_cc[VMIN] = 1;
  now.c_cc[VTIME] = 0;
  if (tcsetattr(console, TCSANOW, &now) != 0) printf("wrong: tcsetattr\n");
  struct termios again;
  if (tcgetattr(console, &again) != 0 || again.c_lflag != now.c_lflag) printf("wrong: what was set\n");
}

int main(void) {
  struct winsize size;
  struct termios settings;
  int ends[2];
  console = open("/dev/console", O_RDWR | O_NOCTTY);
  if (console < 0 || !isatty(console)) printf("wrong: no terminal\n");
  if (ioctl(console, TIOCGWINSZ, &size) != 0) printf("wrong: no size\n");
  if (pipe(ends) != 0 || isatty(ends[0]) || errno != ENOTTY) printf("wrong: a pipe is a terminal\n");
  if (tcgetattr(ends[0], &settings) != -1 || errno != ENOTTY) printf("wrong: settings of a pipe\n");
  set(0, ICANON | ECHO | ECHOE | ISIG);
  say("line?");
  show("line");
  say("end?");
  show("end");
  set(ECHO, 0);
  say("secret?");
  show("secret");
  set(ICANON | ECHO, 0);
  say("key?");
  show("key");
  set(0, ICANON | ECHO);
  say("flush?");
  char first;
  if (read(console, &first, 1) == 1) printf("first: %02x\n", (unsigned char)first);
  tcflush(console, TCIFLUSH);
  say("last?");
  show("last");
  return 0;
}
