# SPDX-License-Identifier: MIT
"""The tree that workload andrew-make compiles: its size, and its program by several compilers."""

import hashlib
import re
import shutil
import subprocess

import pytest
from andrew_tree import CLANG, GCC, compiled, writer_in, written


@pytest.fixture(scope="module")
def writer(tmp_path_factory):
    return writer_in(tmp_path_factory.mktemp("writer"))


def digest(tree):
    return {
        path.relative_to(tree): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in tree.rglob("*")
        if path.is_file()
    }


def test_the_tree_has_the_size_of_the_paper(writer, tmp_path):
    """About 70 files and 200 KB (Howard and others 1988, section 4.1)."""
    tree = written(writer, tmp_path, 70, 200, 20)
    files = [path for path in tree.rglob("*") if path.is_file()]
    sizes = [path.stat().st_size for path in files]
    assert (len(files), sum(sizes)) == (70, 200 << 10)
    assert max(sizes) / min(sizes) == pytest.approx(7, rel=0.01)
    assert len({path.parent for path in files}) == 20
    assert digest(tree) == digest(written(writer, tmp_path / "again", 70, 200, 20))
    text = "".join(path.read_text() for path in files)
    assert not re.search(r"\$[a-z]\b", text.replace("$(", "").replace("int $0x80", ""))
    code = re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)
    assert len(code) > len(text) / 2


def test_each_compiler_makes_a_program_with_the_same_result(writer, tmp_path):
    """make with gcc as in the guest; clang with and without its optimizations."""
    if not shutil.which("make"):
        pytest.skip("this host has no make")
    tree = written(writer, tmp_path, 30, 70, 5)
    expected = compiled(tree, CLANG, "-O0")
    assert re.fullmatch(r"[0-9a-f]{8}\n", expected)
    assert compiled(tree, CLANG, "-O2") == compiled(tree, GCC, "-O0") == expected
    subprocess.run(["make", "-s", "-C", tree], check=True)
    made = subprocess.run([tree / "program"], capture_output=True, text=True, check=True)
    assert made.stdout == expected
    other = written(writer, tmp_path / "other", 31, 70, 5)
    assert compiled(other, GCC, "-O0") != expected


@pytest.mark.parametrize(("numbers", "file"), [((70, 60, 20), 0), ((100, 140, 3), 0)])
def test_a_tree_that_is_too_small_is_one_line(writer, tmp_path, numbers, file):
    done = subprocess.run(
        [writer, *map(str, numbers)], cwd=tmp_path, capture_output=True, text=True
    )
    assert done.returncode == 2
    assert re.fullmatch(
        rf"andrew-make: file {file} needs \d+ bytes and has \d+; expected more kilobytes\n",
        done.stderr,
    )
