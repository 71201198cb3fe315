# SPDX-License-Identifier: MIT
"""Statistics of gem5 (https://www.gem5.org), read dump by dump from any of its three formats.

    from p5stats.gem5 import sections

    for section in sections("m5out/stats.txt"):  # or stats.json, stats.h5, stats.txt.gz
        print(section["simTicks"], section.total("system.cpu.dcache.overallMisses"))

No part of the laboratory around it is needed, and of other packages only h5py, for HDF5.
`python -m p5stats.gem5 --help` is the same for a shell. `names` knows what older releases of gem5
called the same things.
"""

from collections.abc import Callable, Iterator
from pathlib import Path

from p5stats.gem5 import hdf5, pystats, text
from p5stats.gem5.section import Number, Section
from p5stats.problems import StatsError

__all__ = ["Number", "Section", "StatsError", "sections"]


def sections(path: Path | str, wanted: Callable[[str], bool] | None = None) -> Iterator[Section]:
    """The dumps of a file in their order; its content tells the format.

    `wanted` is asked for the full name of a number, `component.statistic::element`: only those it
    accepts are in the sections. No file is held in memory as a whole but JSON, which has one dump.
    Raises StatsError, after all whole sections, where a file is cut short or makes no sense.
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
