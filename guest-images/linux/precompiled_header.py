# SPDX-License-Identifier: MIT
"""A precompiled header for the build of a kernel.

Three of four C files of guest linux include the same 300 headers, and the compiler spends about
half of its time on headers. With this module the compiler reads these headers once. Most C files of
the kernel then begin with the stored result (GCC's manual, "Using Precompiled Headers").
"""

from __future__ import annotations

import re
from pathlib import Path

FIRST = ("compiler-version", "kconfig", "compiler_types")
"""The headers of include/linux that kbuild includes before each C file."""

HEADERS = (
    "kernel",
    "module",
    "init",
    "slab",
    "sched",
    "sched/signal",
    "mm",
    "fs",
    "uaccess",
    "device",
)
"""Further headers of include/linux in the precompiled header. Each is included, directly or through
another header, by at least 74 % of the C files of guest linux. Headers of the network cannot be in
it: their functions use macros of NAMES."""

NAMES = ("KBUILD_MODFILE", "KBUILD_BASENAME", "KBUILD_MODNAME", "__KBUILD_MODNAME")
"""The macros that kbuild defines for each C file. The compiler does not use a precompiled header
that mentions a macro, if the command line defines this macro. So the command line defines other
names, and a header that comes after the precompiled header defines the macros."""

PARTS = (
    *("block", "crypto", "drivers", "fs", "init", "ipc", "kernel", "lib", "mm", "net", "security"),
    *(f"arch/x86/{part}" for part in ("events", "kernel", "mm", "pci")),
)
"""The directories whose C files may begin with the precompiled header. If a file has other options,
the compiler reads the text of the header."""

TEXT = ("kernel/events/core.c", "kernel/range.c", "lib/iov_iter.c")
"""Suitable C files that do not begin with the precompiled header. With headers that these files do
not include, the compiler orders some functions or instructions in another way. With this list, the
kernel's code is the same as without a precompiled header."""

STACK_POINTER = """\
#ifdef __x86_64__
register unsigned long p5lab_stack_pointer asm("rsp");
#else
register unsigned long p5lab_stack_pointer asm("esp");
#endif
"""
"""The kernel's headers declare a global register variable for the stack pointer. gcc 12 does not
store in a precompiled header that a register belongs to such a variable, and then schedules
instructions at calls in another way. So a header after the precompiled header declares a second
variable for the same register. This has no other effect."""

PLACE = "include/p5lab"
DIRECTIVE = re.compile(r"^[ \t]*#[ \t]*(define|undef|include)\b[ \t]*(.?)", re.MULTILINE)

KBUILD = f"""
prepare: {PLACE}/first.h.gch
{PLACE}/first.h.gch: {PLACE}/first.h $(bounds-file) $(timeconst-file) $(offsets-file)
\t$(Q)$(CC) $(NOSTDINC_FLAGS) $(filter -I%,$(LINUXINCLUDE)) $(_c_flags) $(KBUILD_CFLAGS_KERNEL) \\
\t\t$(CFLAGS_KERNEL) -x c-header -o $@ $<
"""

MAKEFILE = f"""
include $(srctree)/{PLACE}/sources.mk
p5lab_begin = -include $(srctree)/{PLACE}/first.h -include $(srctree)/{PLACE}/names.h
c_flags = $(if $(filter $(p5lab_sources),$<),$(p5lab_begin) @FLAGS@,$(kbuild_c_flags))
"""


def is_suitable(source: str) -> bool:
    """Whether headers of the kernel may stand before the text of a C file. A macro before an
    include, such as pr_fmt, can change the meaning of a header.

    >>> is_suitable("#include <linux/fs.h>\\n#define X 1\\n")
    True
    >>> is_suitable("#define pr_fmt(fmt) fmt\\n#include <linux/fs.h>\\n")
    False
    """
    directives = DIRECTIVE.findall(source)
    kinds = [kind for kind, quote in directives if kind != "include" or quote == "<"]
    return "include" in kinds and set(kinds[: kinds.count("include")]) == {"include"}


def add(tree: Path) -> None:
    """Adds a precompiled header to the build of the kernel in `tree`. Raises ValueError if kbuild
    has another form than expected."""
    place = tree / PLACE
    place.mkdir()
    headers = [f"#include <linux/{name}.h>\n" for name in (*FIRST, *HEADERS)]
    (place / "first.h").write_text("".join(headers))
    names = [f"#define {name} P5LAB_{name}\n" for name in NAMES]
    (place / "names.h").write_text("".join(names) + STACK_POINTER)
    sources = {
        source.relative_to(tree).as_posix()
        for part in PARTS
        for source in (tree / part).rglob("*.c")
        if is_suitable(source.read_text(encoding="utf-8", errors="replace"))
    }
    listed = " ".join(sorted(sources.difference(TEXT)))
    (place / "sources.mk").write_text(f"p5lab_sources := {listed}\n")
    with (tree / "Kbuild").open("a") as kbuild:
        kbuild.write(KBUILD)
    makefile = tree / "scripts/Makefile.lib"
    text, found = re.subn(r"^c_flags(?= *=)", "kbuild_c_flags", makefile.read_text(), flags=re.M)
    if found != 1:
        raise ValueError(f"scripts/Makefile.lib: expected one line `c_flags =`, found {found}")
    flags = "$(kbuild_c_flags)"
    for name in FIRST:
        flags = f"$(subst -include $(srctree)/include/linux/{name}.h,,{flags})"
    for name in NAMES:
        flags = f"$(subst -D{name}=,-DP5LAB_{name}=,{flags})"
    makefile.write_text(text + MAKEFILE.replace("@FLAGS@", flags))
