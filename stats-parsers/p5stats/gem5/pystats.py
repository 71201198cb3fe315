# SPDX-License-Identifier: MIT
"""gem5's JSON format (gem5 src/python/m5/stats/gem5stats.py and src/python/m5/ext/pystats).

Nested JSON objects describe the tree of the simulated objects. A JSON object is a statistic if its
`type` is a type of statistic (such as `Scalar`). A file contains only the last dump, because each
dump overwrites the previous dump. gem5 does not write formulas. The parser gives numbers the same
names as in the text format. The name of a bucket in a distribution is the number of the bucket
(`bucket0`), because the bounds of the bucket are unknown.
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from p5stats.gem5.section import SEPARATOR, TOTAL, Number, Section, whole
from p5stats.problems import StatsError

_VECTORS = ("Vector", "SparseHist")


def sections(path: Path, wanted: Callable[[str], bool] | None = None) -> Iterator[Section]:
    """Yields the only section of a file. StatsError names the malformed line or object."""
    try:
        tree = json.loads(path.read_bytes())
    except json.JSONDecodeError as error:
        raise StatsError(
            f"{path}, line {error.lineno}: not JSON, or cut short: {error.msg}"
        ) from None
    except (ValueError, RecursionError):  # for example bytes that are not text, or deep nesting
        raise StatsError(f"{path}: not JSON") from None
    except OSError as error:
        raise StatsError(f"cannot read {path}: {error.strerror}") from None
    if not isinstance(tree, dict):
        raise StatsError(f"{path}: expected an object {{...}}")
    section = Section(0, f"{path}")
    try:
        _group(section, "", tree)
    except RecursionError:
        raise StatsError(f"{path}: nested too deep") from None
    if not section.statistics:
        raise StatsError(f"{path}: no statistics: expected the tree that gem5 writes")
    yield section.only(wanted) if wanted else section


def _group(section: Section, name: str, node: dict[str, Any]) -> None:
    if name and node.get("type") == "SimObjectVector" and isinstance(node.get("value"), list):
        for index, child in enumerate(node["value"]):
            # gem5 has the same rule for names: if a vector has only one element, the element has no
            # index.
            _child(section, name if len(node["value"]) == 1 else f"{name}{index}", child)
        return
    for key, child in node.items():
        if not key:
            raise StatsError(f"{section.where}: {name or 'the tree'}: a member without a name")
        _child(section, f"{name}.{key}" if name else key, child)


def _child(section: Section, name: str, node: object) -> None:
    if not isinstance(node, dict):
        return  # not a statistic: for example the name of an object or the time of the dump
    kind = node.get("type")
    if kind == "Scalar":
        section.add(name, _number(section, name, node))
    elif kind in _VECTORS:
        _vector(section, name, node)
    elif kind == "Vector2d":
        for row, vector in _elements(section, name, node):
            _vector(section, f"{name}_{row}", vector)
    elif kind == "Distribution":
        _distribution(section, name, node)
    else:
        _group(section, name, node)


def _vector(section: Section, name: str, node: dict[str, Any]) -> None:
    elements = dict(_elements(section, name, node))
    for element, number in elements.items():
        if node.get("type") == "SparseHist":  # the counted value, as in the text format
            element = element.removesuffix(".0")
        alone = len(elements) == 1 and node.get("type") == "Vector"
        section.add(
            name if alone else f"{name}{SEPARATOR}{element}", _number(section, name, number)
        )


def _distribution(section: Section, name: str, node: dict[str, Any]) -> None:
    buckets = [_number(section, name, number) for _, number in _elements(section, name, node)]
    unit, description = buckets[0].unit if buckets else "", str(node.get("description") or "")

    def add(element: str, value: float) -> None:
        section.add(f"{name}{SEPARATOR}{element}", Number(whole(value), unit, description))

    for index, bucket in enumerate(buckets):
        add(f"bucket{index}", bucket.value)
    outside = {"underflow": "underflows", "overflow": "overflows"}
    ends = {"min": "min_value", "max": "max_value", "bin_size": "bucket_size", "sum": "sum"}
    for key, element in (outside | ends).items():
        if _is_number(node.get(key)):
            add(element, node[key])
    known = [node[key] for key in outside if _is_number(node.get(key))]
    add(TOTAL, sum(bucket.value for bucket in buckets) + sum(known))


def _elements(section: Section, name: str, node: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    value = node.get("value")
    if not isinstance(value, dict) or not all(isinstance(child, dict) for child in value.values()):
        raise StatsError(f"{section.where}: {name}: value: expected an object of statistics")
    yield from value.items()


def _number(section: Section, name: str, node: dict[str, Any]) -> Number:
    if not _is_number(node.get("value")):
        raise StatsError(f"{section.where}: {name}: value: expected a number")
    return Number(
        whole(node["value"]), str(node.get("unit") or ""), str(node.get("description") or "")
    )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)
