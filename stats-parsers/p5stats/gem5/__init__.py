# SPDX-License-Identifier: MIT
"""Reads the statistics of gem5 (https://www.gem5.org) dump by dump, from any of three formats.

    from p5stats.gem5 import sections

    for section in sections("m5out/stats.txt"):  # or stats.json, stats.h5, stats.txt.gz
        print(section["simTicks"], section.total("system.cpu.dcache.overallMisses"))

This package does not depend on the rest of the laboratory. Only HDF5 needs another package, h5py.
The command line has the same functions: see `python -m p5stats.gem5 --help`. The module `names`
converts names of older releases of gem5.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from p5stats.gem5 import hdf5, pystats, text
from p5stats.gem5.section import Number, Section
from p5stats.problems import StatsError

__all__ = ["Number", "Section", "StatsError", "sections"]


def sections(path: Path | str, wanted: Callable[[str], bool] | None = None) -> Iterator[Section]:
    """Yields the dumps of a file in order. The content of the file determines the format.

    `wanted` is a function. Its argument is the full name of a number,
    `component.statistic::element`. If `wanted` returns false, the sections do not contain the
    number. A JSON file contains one dump, and the parser loads the file completely into memory. The
    parser reads any other file dump by dump, and keeps one dump in memory at a time. If the file is
    malformed or incomplete, `sections` yields all complete sections and then raises StatsError.
    """
    path = Path(path)
    try:
        with path.open("rb") as file:
            start = file.read(len(hdf5.SIGNATURE))
    except OSError as error:
        raise StatsError(f"cannot read {path}: {error.strerror}") from None
    if start == hdf5.SIGNATURE:
        return hdf5.sections(path, wanted)
    if start.lstrip()[:1] == b"{":
        return pystats.sections(path, wanted)
    return text.sections(path, wanted)
