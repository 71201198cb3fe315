# SPDX-License-Identifier: MIT
"""`run --program FILE.c --stdin FILE` and a pipe: the program reads the same bytes as with `< FILE`
in a shell."""

import contextlib
import json
import os
import random
import subprocess

import hostcc
import pytest

from p5lab.cli import main as cli
from p5lab.host.compiler import compiled
from p5lab.lab import Lab

# Reads with stdio, by descriptor, by mapping and after a seek, also in a child.
SOURCE = """\
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
static unsigned hash(unsigned h, const unsigned char *at, size_t n) {
  while (n--) h = h * 31 + *at++;
  return h;
}
int main(void) {
  unsigned h = 1;
  unsigned long n = 0;
  for (int c; (c = getchar()) != EOF; n++) h = h * 31 + (unsigned char)c;
  printf("%lu bytes, %08x\\n", n, h);
  rewind(stdin);
  printf("first %d\\n", getchar());
  struct stat s;
  if (fstat(0, &s) != 0 || (unsigned long)s.st_size != n) return 1;
  fflush(stdout);
  lseek(0, 0, SEEK_SET);
  if (fork() == 0) {
    unsigned char part[5000];
    unsigned k = 1;
    for (ssize_t got; (got = read(0, part, sizeof part)) > 0;) k = hash(k, part, (size_t)got);
    printf("child %08x\\n", k);
    fflush(stdout);
    _exit(0);
  }
  wait(NULL);
  if (n) {
    const void *all = mmap(NULL, n, PROT_READ, MAP_PRIVATE, 0, 0);
    printf("mapped %08x\\n", all == MAP_FAILED ? 0 : hash(1, all, n));
  }
  return 0;
}
"""
INPUTS = {
    "empty": b"",
    "no end of line": b"12",
    "binary": bytes(range(256)) * 3 + b"\0" * 4096 + b"\x7fELF\x1a\x04",
    "large": random.Random(5).randbytes(300_001),
}


@pytest.fixture(scope="module")
def source(tmp_path_factory):
    path = tmp_path_factory.mktemp("reads") / "reads.c"
    path.write_text(SOURCE)
    return path


def printed(said):
    lines = said.splitlines()
    return [
        one for one in lines if one.startswith(("child", "mapped", "first")) or "bytes, " in one
    ]


@pytest.mark.parametrize("guest", ["linux", "linux64"])
def test_the_program_reads_what_it_reads_on_this_host(guest, own_lab, source, tmp_path, capsys):
    program = hostcc.compiled(tmp_path / "on-host", source)
    for name, content in INPUTS.items():
        given = tmp_path / name
        given.write_bytes(content)
        with given.open("rb") as file:
            wanted = subprocess.run([program], stdin=file, capture_output=True, text=True).stdout
        words = ["run", "--program", str(source), "--guest", guest, "--stdin", str(given)]
        assert cli.main(words, own_lab) == 0
        assert printed(capsys.readouterr().err) == wanted.splitlines()


@contextlib.contextmanager
def piped(content):
    """A pipe with this content is the standard input of this process."""
    kept, (end, begin) = os.dup(0), os.pipe()
    os.write(begin, content)
    os.close(begin)
    os.dup2(end, 0)
    os.close(end)
    try:
        yield
    finally:
        os.dup2(kept, 0)
        os.close(kept)


def test_a_pipe_is_the_standard_input(own_lab, source, tmp_path, capsys):
    content = b"3 4\n\0\xff"

    def the_run(*words):
        assert cli.main(["run", "--program", str(source), "--json", *words], own_lab) == 0
        said = capsys.readouterr()
        (run,) = {row["runs"] for row in json.loads(said.out)["rows"]}
        return run, said.err

    with piped(content):
        run, said = the_run()
    assert "6 bytes, " in said
    # The same bytes from a file are the same run, and other bytes are another run.
    same = tmp_path / "file"
    same.write_bytes(content)
    assert the_run("--stdin", str(same))[0] == run
    same.write_bytes(content + b"!")
    assert the_run("--stdin", str(same))[0] != run


def test_programs_of_other_languages(own_lab, tmp_path, capsys):
    given = tmp_path / "numbers"
    given.write_text("20 22\n")
    source = tmp_path / "add.s"
    source.write_text(
        ".globl main\nmain:\n"  # reads 2 bytes and prints them
        "push $2; push $buffer; push $0; call read; add $12, %esp\n"
        "push $2; push $buffer; push $1; call write; add $12, %esp\n"
        "xor %eax, %eax\nret\n.bss\nbuffer: .skip 4\n"
    )
    assert cli.main(["run", "--program", str(source), "--stdin", str(given)], own_lab) == 0
    assert "add.s printed:\n20" in capsys.readouterr().err


def test_devices_and_named_pipes(own_lab, source, tmp_path, capsys):
    words = ["run", "--program", str(source), "--stdin"]
    assert cli.main([*words, "/dev/null"], own_lab) == 0
    assert "0 bytes, 00000001" in capsys.readouterr().err
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with subprocess.Popen(["sh", "-c", f"echo piped > '{pipe}'"]):
        assert cli.main([*words, str(pipe)], own_lab) == 0
    assert "6 bytes, " in capsys.readouterr().err


@pytest.mark.parametrize("isa", ["pentium", "x86-64"])
def test_a_checkout_may_have_a_space_in_its_path(isa, source, tmp_path):
    place = tmp_path / "it's a place"
    place.symlink_to(Lab.here().root)
    given = tmp_path / "given"
    given.write_bytes(b"12")
    made = compiled(Lab(place), source, "", isa, given)
    assert made.is_relative_to(place) and made.read_bytes()[:4] == b"\x7fELF"
