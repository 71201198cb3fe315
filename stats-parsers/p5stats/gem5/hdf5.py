# SPDX-License-Identifier: MIT
"""gem5's HDF5 format (gem5 src/base/stats/hdf5.cc).

The file contains a group for each object of the simulation. Each statistic of the object is a
dataset in the group. The first dimension of a dataset is the dump. The attributes of a dataset are
the description, the names of the elements, and the equation of a formula. An HDF5 file contains no
distributions, histograms, units or totals. The parser gives numbers the same names as in the text
format.
"""

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import Any

from p5stats.gem5.section import SEPARATOR, Number, Section, whole
from p5stats.problems import StatsError

SIGNATURE = b"\x89HDF\r\n\x1a\n"
SIZES = {0: 13, 1: 13, 2: 9, 3: 9}  # offset of the two sizes, by the version of the superblock
HEAP = b"GCOL\1"  # signature and version of a heap
# LENGTH reads the length of a heap. OBJECT reads the index and size of an object in the heap.
LENGTH, OBJECT = struct.Struct("<3xQ"), struct.Struct("<H6sQ")
CHUNK = 10  # dumps in a chunk, by gem5's default


@dataclass(frozen=True)
class _Series:
    """A statistic with the full names of its columns.

    A name is None if the column is not wanted, or if gem5 gave the element no name. In the text
    format, gem5 also omits elements without a name.
    """

    dataset: Any
    columns: list[str | None]
    description: str

    def only(self, wanted: Callable[[str], bool]) -> "_Series":
        columns = [name if name and wanted(name) else None for name in self.columns]
        return replace(self, columns=columns)


def sections(path: Path, wanted: Callable[[str], bool] | None = None) -> Iterator[Section]:
    """Yields the dumps of a file in order. Only one chunk of each statistic is in memory."""
    try:
        import h5py
    except ImportError:
        raise StatsError(f"{path}: an HDF5 file: expected the Python package h5py") from None
    try:
        _check(path)
        with h5py.File(path, "r") as file:
            statistics: list[_Series] = []
            _collect(path, file, "", statistics, h5py)
            if not statistics:
                raise StatsError(f"{path}: no statistics: expected a dataset for each statistic")
            dumps = statistics[0].dataset.shape[0]
            for series in statistics:
                if series.dataset.shape[0] != dumps:
                    raise StatsError(
                        f"{path}: {series.dataset.name}: cut short: expected {dumps} dumps, as"
                        f" {statistics[0].dataset.name} has, found {series.dataset.shape[0]}"
                    )
            if wanted:
                chosen = (series.only(wanted) for series in statistics)
                statistics = [series for series in chosen if any(series.columns)]
            for first in range(0, dumps, CHUNK):
                yield from _chunk(path, statistics, first, min(first + CHUNK, dumps))
    except StatsError:
        raise
    # h5py raises many kinds of exception for a damaged file.
    except (
        ArithmeticError,
        AttributeError,
        LookupError,
        MemoryError,
        OSError,
        RuntimeError,
        TypeError,
        ValueError,
        struct.error,
    ) as error:
        reason = " ".join(str(error).split()) or type(error).__name__
        raise StatsError(f"{path}: not HDF5, or cut short: {reason}") from None


def _check(path: Path) -> None:
    """Refuses a file in which a heap of texts is damaged: the heap's free space has size 0.

    HDF5's library (2.0) would read such a heap in an endless loop. The layout is in the HDF5 File
    Format Specification 3.0, II.A and III.E.
    """
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as data:
        sizes = SIZES.get(data[len(SIGNATURE)])
        if sizes is None or data[sizes : sizes + 2] != bytes((8, 8)):
            raise ValueError("expected addresses and lengths of 8 bytes")
        heap = -1
        while (heap := data.find(HEAP, heap + 1)) >= 0:
            end = min(heap + LENGTH.unpack_from(data, heap + len(HEAP))[0], len(data))
            at = heap + OBJECT.size
            while at + OBJECT.size <= end:
                index, _, size = OBJECT.unpack_from(data, at)
                at += OBJECT.size + (size + 7) // 8 * 8 if index else size
                if at > end or (not index and size < OBJECT.size):
                    raise ValueError("a damaged heap")


def _chunk(path: Path, statistics: list[_Series], first: int, end: int) -> Iterator[Section]:
    blocks = [
        series.dataset[first:end].reshape(end - first, len(series.columns)).tolist()
        for series in statistics
    ]
    for dump in range(first, end):
        section = Section(dump, f"{path}: section {dump}")
        for series, block in zip(statistics, blocks, strict=True):
            for name, value in zip(series.columns, block[dump - first], strict=True):
                if name is not None:
                    section.add(name, Number(whole(value), "", series.description))
        yield section


def _collect(path: Path, group: Any, prefix: str, statistics: list[_Series], h5py: Any) -> None:  # noqa: ANN401
    for key in group:
        node, name = group[key], f"{prefix}{key}"
        if isinstance(node, h5py.Group):
            _collect(path, node, f"{name}.", statistics, h5py)
            continue
        # gem5 writes doubles. Python's float cannot represent wider numbers.
        if not 1 <= node.ndim <= 3 or node.dtype.kind not in "fiu" or node.dtype.itemsize > 8:
            raise StatsError(
                f"{path}: {node.name}: expected numbers of up to 64 bits in one to three dimensions"
            )
        statistics.append(_Series(node, _columns(node, name), "".join(_texts(node, "description"))))


def _columns(dataset: Any, name: str) -> list[str | None]:  # noqa: ANN401
    """The names of a dump's numbers. A vector with one element has a name without `::`."""
    if dataset.ndim == 1 or dataset.shape[1:] == (1,):
        return [name]
    if dataset.ndim == 2:
        return _elements(name, _names(dataset, "subnames", dataset.shape[1]))
    columns: list[str | None] = []
    for row in _names(dataset, "subnames", dataset.shape[1]):
        elements = _names(dataset, "y_subnames", dataset.shape[2])
        columns += _elements(f"{name}_{row}", elements) if row else [None] * len(elements)
    return columns


def _elements(name: str, elements: list[str]) -> list[str | None]:
    return [f"{name}{SEPARATOR}{element}" if element else None for element in elements]


def _names(dataset: Any, attribute: str, size: int) -> list[str]:  # noqa: ANN401
    """The names of the elements in the file. If the file contains no names, the number of each
    element is its name.

    Some names in the file can be empty or missing.
    """
    names = _texts(dataset, attribute)
    if not any(names):
        return [str(index) for index in range(size)]
    return (names + [""] * size)[:size]


def _texts(dataset: Any, attribute: str) -> list[str]:  # noqa: ANN401
    values = dataset.attrs.get(attribute, ())
    return [
        text.decode("utf-8", "replace") if isinstance(text, bytes) else str(text) for text in values
    ]
