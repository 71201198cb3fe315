# SPDX-License-Identifier: MIT
"""Which source lines of two versions of a program are the same line.

Equal lines are, and so are changed lines in one place, if they are as many in both versions. The
page of `./p5lab annotate` shows the same lines beside each other.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from difflib import SequenceMatcher
from pathlib import Path

from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.lab import shown
from p5lab.present import by_source

PAIR = 2  # versions that `annotate` shows beside each other
LONG = 2000  # lines; a longer text is matched without its most frequent lines, such as `}`
Texts = Mapping[str, Sequence[str]]  # the lines of each file, by the file's name in `FILE:LINE`


def blocks(first: Sequence[str], second: Sequence[str]) -> Iterator[tuple[range, range]]:
    """Pairs of places of two texts that belong to each other: equal lines, or lines of the first
    text in whose place the second one has others, fewer or none."""
    matcher = SequenceMatcher(None, first, second, autojunk=len(second) > LONG)
    for _, a, b, c, d in matcher.get_opcodes():
        yield range(a, b), range(c, d)


def names(
    first: Stored, other: Stored, ours: Iterable[str], theirs: Iterable[str]
) -> dict[str, str]:
    """Returns, for the lines of another version, their names in the first version.

    `ours`, `theirs`: the lines with counts, as `FILE:LINE`. Files are the same if they have the
    same name, and so are the only files without such a partner. A line that the first version does
    not have keeps its name, or is told from a line of the first version with this name. Empty if a
    run has no texts.
    """
    before, after = _texts(first, ours), _texts(other, theirs)
    pairs = {name: name for name in after if name in before}
    alone = [[name for name in own if name not in pairs] for own in (before, after)]
    if [len(own) for own in alone] == [1, 1]:
        pairs[alone[1][0]] = alone[0][0]
    renamed = {}
    for file, partner in pairs.items():
        for old, new in blocks(before[partner], after[file]):
            for place, line in enumerate(new):
                if len(old) == len(new):
                    renamed[f"{file}:{line + 1}"] = f"{partner}:{old[place] + 1}"
                elif file == partner:
                    version = selection.called(other.record)
                    renamed[f"{file}:{line + 1}"] = f"{file}:{line + 1} of {version}"
    return renamed


def note(runs: Sequence[Stored]) -> str:
    """What a table with lines of these versions says about their names."""
    said = (
        f"Lines have the places of {selection.called(runs[0].record)}; equal lines, and changed"
        " lines in the same place, share a row."
    )
    files = dict.fromkeys(file for run in runs for file in by_source.sources(run) or ())
    if len(files) == PAIR and len(runs) == PAIR:
        both = " ".join(shown(Path(own)) for own in files)
        said += f" `./p5lab annotate {both}` shows the two sources beside each other."
    return said


def _texts(stored: Stored, places: Iterable[str]) -> Texts:
    """The source files of a run by the name that they have in its lines."""
    sources = by_source.sources(stored) or {}
    texts = {}
    for name in dict.fromkeys(place.rpartition(":")[0] for place in places):
        paths = [path for path in sources if name and f"/{path}".endswith(f"/{name}")]
        if len(paths) == 1:
            texts[name] = [line.strip() for line in sources[paths[0]].split("\n")]
    return texts
