# SPDX-License-Identifier: MIT
"""The command lines of the documents, executed on the real engine (printed.py).

The commands of printed.SESSION run one after the other in a laboratory without results, as a reader
would type them. unit/test_printed_commands.py has the tests of all other command lines.
"""

import contextlib
import itertools
import re
import shlex
import shutil
import subprocess
import sys

import command_line
import printed
import pytest

from p5lab.keep import store
from p5lab.lab import Lab

HELLO = """\
#include <stdio.h>
int main(int argc, char **argv) {
  printf("hello, %d arguments\\n", argc - 1);
  return argv[argc] != 0;
}
"""
BUILDING = ("run", "rerun")  # commands that build; ./p5lab test has already built everything

# Only with --full: what other commands of the session do with other values. test_attributed.py and
# test_exact_totals.py check the misses by cause, and unit/test_page_stored.py pages of two systems.
LONG = (
    "./p5lab run smoke --set l2.size=512K",
    "./p5lab run chen95-core --workload create --guest linux --attribute misses",
    "./p5lab show RUN --by function,cause --metric l2_read_misses",
    "./p5lab report chen95-core",
)
SILENT = ("rerun", "--speedscope")  # commands without results on standard output


class Reader:
    """Somebody who types commands in a directory. RUN stands for the run of the last command that
    made a run. The second RUN of a line stands for the run before.
    """

    def __init__(self, lab, place):
        self.lab, self.place, self.runs = lab, place, []

    def type(self, line):
        """Runs a command line. Returns its standard output."""
        lines = [printed.command("", one, fenced=True) for one in printed.alternatives(line)]
        return "".join(self._p5lab(one.words[1:]) for one in lines)

    def _p5lab(self, words):
        given = iter(self.runs[::-1])
        words = [next(given)[:10] if word == "RUN" else word for word in words]
        words = [printed.PLACEHOLDERS.get(word, word) for word in words]
        more = ["--no-build"] if words[0] in BUILDING else []
        with contextlib.chdir(self.place):
            status, out, err = command_line.ran(self.lab, *words, *more)
        assert status == 0, f"{words}: {err}"
        for done in re.findall(r", ([0-9a-f]{10})\n", err):
            (found,) = (one.id for one in store.all_runs(self.lab) if one.id.startswith(done))
            self.runs = [*(one for one in self.runs if one != found), found]
        return out


@pytest.fixture(scope="module")
def reader(tmp_path_factory):
    place = tmp_path_factory.mktemp("reader")
    lab = Lab(Lab.here().root, place / "results")
    shutil.copy(lab.program("linux", "true-static"), place / "a.out")
    return Reader(lab, place)


@pytest.mark.parametrize(
    "line",
    [
        pytest.param(one, marks=pytest.mark.full) if one in LONG else one
        for one in printed.session()
    ],
)
def test_a_reader_types_the_command(line, reader):
    out = reader.type(line)
    assert out.strip() or any(word in line for word in SILENT)


def test_the_session_left_its_files(reader):
    assert (reader.place / "exec.json").stat().st_size > 0
    assert list((reader.place / "figures").glob("*.svg"))
    assert (reader.place / "results/smoke.html").is_file()


def test_programs_without_an_engine_run_on_this_host(tmp_path):
    """`cc` compiles a workload, and the workload runs (workloads/README.md)."""
    root = Lab.here().root
    lines = [one.text for one in printed.commands() if one.fenced and one.text.startswith("cc ")]
    (line,) = lines
    for name in ("workloads", "guest-images/linux/p5ctr"):
        shutil.copytree(root / name, tmp_path / name)
    for text in (line, "./getpid iterations=1000"):
        subprocess.run(shlex.split(text), cwd=tmp_path, check=True)


def test_zig_compiles_for_a_pentium(tmp_path):
    lines = [one for one in printed.commands() if printed.classes(one) == ["zig"]]
    for name in ("hello.c", "matrix.c"):
        (tmp_path / name).write_text(HELLO)
    for one in lines:
        (output,) = (word for before, word in itertools.pairwise(one.words) if before == "-o")
        words = [sys.executable, *one.words[1:], "-c"]
        subprocess.run(words, cwd=tmp_path, check=True)
        header = (tmp_path / output).read_bytes()[:20]
        assert header[:5] == b"\x7fELF\x01"  # 32 bits
        assert header[18] == 3  # EM_386


def test_each_command_of_the_host_has_a_test():
    """unit/test_cluster.py makes certificates with openssl and uses them."""
    host = {one.text for one in printed.commands() if printed.classes(one) == ["host"]}
    assert {text.split()[0] for text in host} == {"cc", "./getpid", "openssl"}
