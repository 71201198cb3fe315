# SPDX-License-Identifier: MIT
"""The message about a program that a signal ended, or that did not end, names the place."""

import pytest

from p5lab.cli import main as cli

SOURCE = """\
#include <assert.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#define KEEP __attribute__((noinline))
static volatile int zero, x;
struct node { int value; };
KEEP static int look(volatile struct node *n) { return n->value; }
KEEP static int divide(int a, int b) { return a / b; }
KEEP static void check(int n) { assert(n > 3); }
KEEP static void spin(void) {
  while (1)
    x++;
}
struct ring { struct ring *next; int value; };
KEEP static int walk(struct ring *at) {
  int found = 0;
  for (; at; at = at->next) found += at->value == 3;
  return found;
}
static void on_alarm(int number) { (void)number; zero = 1; }
KEEP static void spoil(int how) {
  signal(SIGALRM, on_alarm);
  if (how == 'A') alarm(2);  /* the search begins after a second */
  time_t end = time(NULL) + 3;
  while (how == 'A' ? !zero : how == 'T' ? time(NULL) < end : ++x < 30000000) {}
}
int main(int argc, char **argv) {
  struct ring ring[3] = {{ring + 1, 1}, {ring + 2, 2}, {ring, 4}};
  puts("before");
  fflush(stdout);
  switch (argv[1][0]) {
    case 'n': return look((struct node *)zero);
    case 'd': return divide(argc + 6, zero);
    case 'a': check(argc); break;
    case 's': spin(); break;
    case 'w': return walk(ring);
    case 'A': case 'T': case 'C': spoil(argv[1][0]); break;
    case 'l': return (int)strlen((char *)zero + 16);
    case 'i': return getchar() == 0;
    default: for (;;) {}
  }
  return 0;
}
"""


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("ends") / "ends.c"
    path.write_text(SOURCE)
    return path


def run(lab, source, argument):
    """Returns the exit status of the run of the program. All runs have one limit and one boot."""
    words = ["run", "--program", str(source), "--args", argument, "--limit", "6"]
    return cli.main(words, lab)


@pytest.mark.parametrize(
    ("argument", "wanted"),
    [
        ("null", ("SIGSEGV", "look, ", "ends.c:11", "address 0x0", "output: before")),
        ("divide", ("SIGFPE", "divide, ", "ends.c:12", "idiv", "= 0x0")),
        ("library", ("SIGSEGV", "in strlen", "address 0x10", "main, ")),
        ("abort", ("SIGABRT", "check, ", "ends.c:13", "main, ", "Assertion failed: n > 3")),
        ("spin", ("virtual-time limit", "spin, ", "ends.c:16", "without a system call")),
        ("endless", ("failed: the program cannot end", "main, ", "without a system call")),
        ("walk", ("failed: the program cannot end", "walk, ", "its memory are as they were")),
        ("input", ("virtual-time limit", "waited", "read of standard input")),
    ],
)
def test_the_message_names_the_place(argument, wanted, own_lab, source, capsys):
    assert run(own_lab, source, argument) == 1
    said = " ".join(capsys.readouterr().err.split())
    for text in wanted:
        assert text in said


@pytest.mark.parametrize("argument", ["Alarm", "Time", "Count"])
def test_a_loop_that_something_ends_goes_on(argument, own_lab, source, capsys):
    assert run(own_lab, source, argument) == 0
    assert "printed:\nbefore" in capsys.readouterr().err
