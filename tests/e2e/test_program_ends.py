# SPDX-License-Identifier: MIT
"""The message about a program that a signal ended, or that did not end, names the place."""

import pytest

from p5lab.cli import main as cli
from p5lab.lab import Lab

SOURCE = """\
#include <assert.h>
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
int main(int argc, char **argv) {
  puts("before");
  fflush(stdout);
  switch (argv[1][0]) {
    case 'n': return look((struct node *)zero);
    case 'd': return divide(argc + 6, zero);
    case 'a': check(argc); break;
    case 's': spin(); break;
    case 'l': return (int)strlen((char *)zero + 16);
    default: return getchar() == 0;
  }
  return 0;
}
"""


@pytest.mark.parametrize(
    ("argument", "wanted"),
    [
        ("null", ("SIGSEGV", "look, ", "ends.c:8", "address 0x0", "output: before")),
        ("divide", ("SIGFPE", "divide, ", "ends.c:9", "idiv", "= 0x0")),
        ("library", ("SIGSEGV", "in strlen", "address 0x10", "main, ")),
        ("abort", ("SIGABRT", "check, ", "ends.c:10", "main, ", "Assertion failed: n > 3")),
        ("spin", ("virtual-time limit", "spin, ", "ends.c:13", "without a system call")),
        ("wait", ("virtual-time limit", "waited", "read of standard input")),
    ],
)
def test_the_message_names_the_place(argument, wanted, tmp_path, capsys):
    source = tmp_path / "ends.c"
    source.write_text(SOURCE)
    words = ["run", "--program", str(source), "--args", argument, "--limit", "6"]
    assert cli.main(words, Lab.here()) == 1
    said = " ".join(capsys.readouterr().err.split())
    for text in wanted:
        assert text in said
