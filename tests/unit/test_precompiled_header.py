# SPDX-License-Identifier: MIT
"""The precompiled header of the kernels (guest-images/linux/precompiled_header.py), in a miniature
tree with the same variables as kbuild."""

import importlib.util
import shutil
import subprocess

import pytest

from p5lab.lab import Lab

KBUILD = """\
src := .
srctree := .
LINUXINCLUDE := -I./include -include $(srctree)/include/linux/kconfig.h
_c_flags = -O1 -Winvalid-pch -Werror
basetarget = $(basename $(notdir $@))
include scripts/Makefile.lib
%.o: %.c
\t$(CC) $(c_flags) -c -o $@ $<
"""
MAKEFILE = """\
c_flags        = $(LINUXINCLUDE)     \\
\t\t -include $(srctree)/include/linux/compiler_types.h       \\
\t\t $(_c_flags) -DKBUILD_MODNAME='"$(basetarget)"'
"""
SOURCES = {
    "fs/plain.c": "#include <linux/fs.h>\nconst char *name = KBUILD_MODNAME FS MM;\n",
    "fs/own.c": "#define OWN\n#include <linux/fs.h>\nconst char *name = KBUILD_MODNAME FS;\n",
    "sound/other.c": "#include <linux/fs.h>\nconst char *name = KBUILD_MODNAME FS;\n",
}


@pytest.fixture(scope="module")
def precompiled():
    file = Lab.here().root / "guest-images/linux/precompiled_header.py"
    spec = importlib.util.spec_from_file_location("precompiled_header", file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def tree(tmp_path, precompiled):
    for name in (*precompiled.FIRST, *precompiled.HEADERS):
        header = tmp_path / f"include/linux/{name}.h"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text("")
    (tmp_path / "include/linux/fs.h").write_text(
        '#ifdef OWN\n#define FS "-ours"\n#else\n#define FS "-fs"\n#endif\n'
    )
    (tmp_path / "include/linux/mm.h").write_text('#define MM "-mm"\n')
    for name, text in {"Kbuild": KBUILD, "scripts/Makefile.lib": MAKEFILE, **SOURCES}.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text)
    return tmp_path


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_a_file_that_begins_with_includes_begins_with_the_header(tree, precompiled):
    """plain.c gets MM from the header. The other files include only what they say, and each file
    has its own macros of kbuild. -Winvalid-pch shows that the compiler accepts the header."""
    precompiled.add(tree)
    objects = [name.replace(".c", ".o") for name in SOURCES]
    make = ["make", "-f", "Kbuild", "CC=gcc"]
    subprocess.run([*make, "include/p5lab/first.h.gch"], cwd=tree, check=True)
    (tree / "include/p5lab/first.h").write_text("#error the text was read\n")
    done = subprocess.run([*make, *objects], cwd=tree, capture_output=True)
    assert done.returncode == 0, done.stderr
    for name, text in zip(objects, (b"plain-fs-mm", b"own-ours", b"other-fs"), strict=True):
        assert text + b"\0" in (tree / name).read_bytes()


CALLS = """\
int g(int, int, int, int, int, int);
int f(int a, int b, int *p) {
  int x = g(p[0], b, 1, 0, p[1], a);
  x += g(x, p[2], b, p[3], 0, 1);
  return x + b + p[0];
}
"""


@pytest.mark.skipif(not shutil.which("gcc"), reason="needs gcc")
def test_the_compiler_orders_instructions_as_without_a_precompiled_header(tmp_path, precompiled):
    """At a call, the order depends on whether a global variable is the stack pointer. gcc 12
    forgets this when it reads a precompiled header."""
    (tmp_path / "first.h").write_text('register unsigned long current asm("esp");\n')
    (tmp_path / "names.h").write_text(precompiled.STACK_POINTER)
    (tmp_path / "calls.c").write_text(CALLS)
    options = "-m32 -march=i586 -O2 -fno-pic -fno-pie -mregparm=3 -mpreferred-stack-boundary=2"

    def compiled(*more):
        command = ["gcc", *options.split(), *more]
        subprocess.run(command, cwd=tmp_path, check=True)
        return (tmp_path / "calls.s").read_text()

    text = compiled("-include", "first.h", "-S", "calls.c")
    compiled("-x", "c-header", "first.h")
    (tmp_path / "first.h").write_text("#error the text was read\n")
    after = compiled("-include", "first.h", "-include", "names.h", "-S", "calls.c")
    assert after == text


def test_another_makefile_is_refused(tree, precompiled):
    (tree / "scripts/Makefile.lib").write_text("cc_flags = -O1\n")
    with pytest.raises(ValueError, match=r"Makefile\.lib: expected one line `c_flags =`, found 0"):
        precompiled.add(tree)


@pytest.mark.parametrize(
    ("source", "suitable"),
    [
        ("/* x */\n#include <linux/fs.h>\n#define X 1\n", True),
        ('#include <linux/fs.h>\n#define X 1\n#include "own.h"\n', True),
        ("#define pr_fmt(fmt) fmt\n#include <linux/fs.h>\n", False),
        ("#include <linux/fs.h>\n# undef DEBUG\n#include <linux/mm.h>\n", False),
        ("int x;\n", False),
    ],
)
def test_a_macro_before_an_include_can_change_a_header(precompiled, source, suitable):
    assert precompiled.is_suitable(source) is suitable
