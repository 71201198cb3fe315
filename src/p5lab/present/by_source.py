# SPDX-License-Identifier: MIT
"""Prints the source of a program with counts beside it, for `show RUN --attribution --source`."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Set

from rich.console import Console

from p5lab.describe.markers import WHOLE_PHASE
from p5lab.describe.observation.attribute import ATTRIBUTION, SOURCES
from p5lab.errors import unknown
from p5lab.files import read_json
from p5lab.keep import selection
from p5lab.keep.store import Stored
from p5lab.present.tables import as_json, share
from p5lab.terminal import for_terminal
from p5stats import attribution
from p5stats.lazy import pd

# Parts of the paths of files that are not the user's own.
LIBRARIES = ("/ziglang/lib/", "/usr/")
MOST = 10  # libraries in the list
AROUND = 3  # lines without counts that are shown before and after a line with counts
GAP = "..."
Counts = dict[tuple[str, int], int]  # by file and line


def show(console: Console, stored: Stored, args: argparse.Namespace) -> None:
    """Prints the source files with counts of the event args.event, in the form args.form. If
    args.source is not empty, prints only the files whose path ends with this text. Raises UserError
    for a run without counts by line, and for an unknown event or file."""
    frame, texts = _read(stored)
    if args.event not in set(frame["event"]):
        raise unknown("event", args.event, sorted(frame["event"].unique()))
    counts = by_line(frame, args.event)
    if args.form == "json":
        rows = [{"file": file, "line": line, "count": n} for (file, line), n in counts.items()]
        console.file.write(as_json(run=stored.id, event=args.event, rows=rows))
    elif args.form == "csv":
        lines = [f"{_quoted(file)},{line},{count}\n" for (file, line), count in counts.items()]
        console.file.write("".join(["file,line,count\n", *lines]))
    else:
        console.file.write(listing(args.event, counts, texts, _chosen(counts, args.source)))


def sources(stored: Stored) -> dict[str, str] | None:
    """The texts of the source files that a run with --attribute lines has stored, by path; None for
    another run. Raises UserError if the file with the texts is damaged."""
    path = stored.directory / SOURCES
    if not path.is_file():
        return None
    files = read_json(path, "repeat the run with --force").get("files", {})
    return {str(name): str(text) for name, text in files.items()}


def by_line(frame: pd.DataFrame, event: str) -> Counts:
    """The counts of an event in the whole program, by file and line, in the order of the lines.
    `frame`: the result of p5stats.attribution.Attribution.line_frame(). The key ("", 0) has the
    counts of all code without a source line: the kernel, other processes and libraries."""
    chosen = frame[frame["event"] == event]
    if WHOLE_PHASE in set(chosen["phase"]):
        chosen = chosen[chosen["phase"] == WHOLE_PHASE]  # the other brackets are inside it
    sums = chosen.groupby(["file", "line"], sort=True)["count"].sum()
    return {(str(file), int(line)): int(count) for (file, line), count in sums.items()}


def _chosen(counts: Counts, wanted: str) -> set[str]:
    """The files that the user wants to see. Without a wish, these are the files that do not belong
    to a library; if the program has only such files, all files."""
    files = {file for file, _ in counts if file}
    if not wanted:
        return {file for file in files if not any(part in file for part in LIBRARIES)} or files
    matching = {file for file in files if f"/{file}".endswith(f"/{wanted.lstrip('/')}")}
    if not matching:
        names = {file.rpartition("/")[2] for file in files}
        raise unknown("source file with counts", wanted, names)
    return matching


def listing(event: str, counts: Counts, sources: Mapping[str, str], chosen: Set[str]) -> str:
    """The text of the files in `chosen` with the counts of an event beside it, the file with the
    largest sum first. Lines far from every count are left out. The other files with counts follow
    as a list. `sources`: the text of each file, by path. A file without text gets one row for each
    line with counts."""
    total = sum(counts.values())
    files: dict[str, dict[int, int]] = {}
    for (file, line), count in counts.items():
        files.setdefault(file, {})[line] = count
    sums = {file: sum(files[file].values()) for file in files}
    order = sorted(filter(None, files), key=lambda name: (-sums[name], name))
    width = max(len(f"{max(counts.values(), key=abs, default=0):,}"), len(event))
    parts = [f"{event}: {total:,} in the whole program\n"]
    for file in (path for path in order if path in chosen):
        parts.append(f"\n{for_terminal(file)}: {share(sums[file], total)}\n")
        parts.append(f"{event:>{width}}   share   line\n")
        parts += _rows(files[file], sources.get(file), total, width)
    others = [path for path in order if path not in chosen]
    rows = [("code without a source line: kernel, libraries, other processes", sums.get("", 0))]
    rows += [(for_terminal(file.rpartition("/")[2]), sums[file]) for file in others[:MOST]]
    if more := others[MOST:]:
        rows.append((f"{len(more)} more files", sum(sums[file] for file in more)))
    parts.append("\nThe rest:\n")
    parts += [f"{count:>{width},} {share(count, total):>7}  {what}\n" for what, count in rows]
    return "".join(parts)


def _rows(counts: Mapping[int, int], text: str | None, total: int, width: int) -> list[str]:
    lines = text.split("\n") if text is not None else []
    if lines:
        near = {at for line in counts for at in range(line - AROUND, line + AROUND + 1)}
        shown = sorted(at for at in near if 1 <= at <= len(lines) or at in counts)
    else:
        shown = sorted(counts)
    rows, last = [], 0
    for at in shown:
        if at != last + 1 and lines:
            rows.append(f"{'':>{width}}           {GAP}\n")
        last = at
        code = for_terminal(lines[at - 1].rstrip("\r"), lines=True) if at <= len(lines) else ""
        count = counts.get(at)
        numbers = f"{count:>{width},} {share(count, total):>7}" if count is not None else ""
        rows.append(f"{numbers:{width + 8}} {at:>6}  {code}".rstrip() + "\n")
    return rows


def _read(stored: Stored) -> tuple[pd.DataFrame, dict[str, str]]:
    path, texts = stored.directory / ATTRIBUTION, sources(stored)
    if not path.is_file() or texts is None:
        raise selection.without(stored, "counts by source line", "--attribute lines")
    return attribution.read(path).line_frame(), texts


def _quoted(text: str) -> str:
    return '"' + for_terminal(text).replace('"', '""') + '"'
