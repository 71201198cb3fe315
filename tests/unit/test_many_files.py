# SPDX-License-Identifier: MIT
"""C files that one process of clang compiles after each other (tools/many_files.py)."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tools"))
from building import BuildError, find_zig, zig_caches
from many_files import compile_all, planned

FLAGS = "-target x86-linux-musl -march=pentium -O2 -fPIC -ffunction-sections -fdata-sections -g0"
FILES = {
    "sum.c": "int sum(int a, int b) { return a + b; }\n",
    "name.c": 'const char *name(int n) { return n ? "a long name" : "name"; }\n',
    "deep/state.c": "static int state = 3;\nint next(void) { return ++state; }\n",
}
MAKEFILE = """\
CC = {zig} cc {flags}
OBJECTS = {objects}
all: $(OBJECTS) obj/own.o
obj/%.o: %.c
\tmkdir -p $(dir $@)
\t$(CC) -c -o $@ $<
obj/own.o: sum.c
\t$(CC) -DOWN -c -o $@ $<
"""


@pytest.fixture
def tree(tmp_path):
    """Returns a source tree with a Makefile, and the environment for its compiler."""
    if not shutil.which("make"):
        pytest.skip("make is not installed")
    root = tmp_path / "tree"
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    # make splits words, and the path of the checkout may contain a space.
    (tmp_path / "ziglang").symlink_to(find_zig().parent)
    objects = " ".join(f"obj/{name[:-2]}.o" for name in FILES)
    zig = tmp_path / "ziglang/zig"
    (root / "Makefile").write_text(MAKEFILE.format(zig=zig, flags=FLAGS, objects=objects))
    return root, {"PATH": os.environ["PATH"], **zig_caches(tmp_path / "cache")}


def loaded(path, tmp_path):
    """The bytes of an object that a program can get."""
    sections = [".text*", ".data*", ".rodata*"]
    options = [word for name in sections for word in ("-j", name)]
    subprocess.run(["objcopy", "-O", "binary", *options, path, tmp_path / "bytes"], check=True)
    return (tmp_path / "bytes").read_bytes()


def test_the_plan_has_the_files_with_the_most_common_options(tree):
    root, env = tree
    calls = planned(root, env, ["all"])
    assert [call.source for call in calls] == list(FILES)
    assert {call.target for call in calls} == {f"obj/{name[:-2]}.o" for name in FILES}
    assert all("-DOWN" not in call.options for call in calls)


def test_the_objects_are_those_of_the_driver(tree, tmp_path, monkeypatch):
    """The sections of the objects are those of `zig cc`. make then compiles only the rest."""
    root, env = tree
    calls = planned(root, env, ["all"])
    monkeypatch.setattr("many_files.CHUNK", 1)
    seen = []
    compile_all(calls, root, env, 2, lambda done, files: seen.append((done, files)))
    assert seen == [(2, 3), (3, 3)]
    rest = subprocess.run(["make", "-n", "all"], cwd=root, env=env, capture_output=True, text=True)
    assert [line for line in rest.stdout.splitlines() if " -c " in line and "OWN" not in line] == []
    for call in calls:
        made = loaded(root / call.target, tmp_path)
        driver = [*call.options.split(), "-c", "-o", "driver.o", call.source]
        subprocess.run(driver, cwd=root, env=env, check=True)
        assert made == loaded(root / "driver.o", tmp_path) != b""
    assert [path.name for path in root.glob("*.o")] == ["driver.o"]


def test_an_error_names_the_message_of_the_compiler(tree):
    root, env = tree
    calls = planned(root, env, ["all"])
    (root / "name.c").write_text("this is no C\n")
    with pytest.raises(BuildError, match=r"name\.c:1:1: error"):
        compile_all(calls, root, env, 1, lambda done, files: None)


def test_a_plan_without_a_c_file_is_refused(tree):
    root, env = tree
    (root / "Makefile").write_text("all:\n\techo nothing\n")
    with pytest.raises(BuildError, match="make -n all: compiles no C file"):
        planned(root, env, ["all"])
