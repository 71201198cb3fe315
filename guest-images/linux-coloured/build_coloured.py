#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build the kernel of guest linux with an allocator that colours pages (coloured.c).

The build is that of guest-images/linux/build_kernel.py, which tests of the build compare byte by
byte. Only the tree gets a further file and one changed macro.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "linux"))
import build_kernel  # noqa: E402  # a script of the directory above

ALLOCATED = "folio_alloc(gfp, order)"
COLOURED = "coloured_folio_alloc(gfp, order, addr)"
DECLARED = (
    "struct folio *coloured_folio_alloc(gfp_t gfp, unsigned int order, unsigned long address);"
)


def add_allocator(tree: Path) -> None:
    """Adds coloured.c, and makes it allocate the pages that have a virtual address."""
    shutil.copyfile(HERE / "coloured.c", tree / "mm/coloured.c")
    with (tree / "mm/Makefile").open("a") as makefile:
        makefile.write("obj-y += coloured.o\n")
    header = tree / "include/linux/gfp.h"
    macro = r"(#define vma_alloc_folio\(gfp, order, vma, addr, hugepage\)\s*\\\n\s*)"
    text, found = re.subn(
        macro + re.escape(ALLOCATED), rf"{DECLARED}\n\1{COLOURED}", header.read_text()
    )
    if found != 1:
        raise build_kernel.BuildError(
            f"include/linux/gfp.h: expected one macro vma_alloc_folio, found {found}"
        )
    header.write_text(text)


def add_driver(tree: Path, driver: Path) -> None:
    """Adds the driver p5ctr, as for guest linux, and the allocator."""
    plain(tree, driver)
    add_allocator(tree)


if __name__ == "__main__":
    plain = build_kernel.add_driver
    build_kernel.add_driver = add_driver
    sys.exit(build_kernel.main())
