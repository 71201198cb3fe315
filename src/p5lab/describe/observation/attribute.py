# SPDX-License-Identifier: MIT
"""Counts by function: `--attribute`."""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Self

from p5lab.describe import outputs, source_lines
from p5lab.describe.elf import Elf
from p5lab.describe.observation import functions
from p5lab.describe.observation.kind import Conf, Kind
from p5lab.describe.observation.target import Target
from p5lab.describe.program import OwnProgram
from p5lab.errors import UserError
from p5lab.lab import Lab

ATTRIBUTION, FUNCTIONS = outputs.file("attribution"), "functions.txt"
SOURCES = "sources.json"  # with LINES: the source files of the program
LARGEST = 1 << 20  # bytes of a source file that SOURCES contains
# `functions`: counts by function. `stacks`: also counts by the chain of callers. `misses`: also
# counts by the class of cache miss.
ATTRIBUTIONS = ("functions", "stacks", "misses")
LINES = "lines"  # also by source line; only for a program of the user
# By instruction of the user's program, and of a function of the kernel if its name follows `=`; for
# `annotate`.
INSTRUCTIONS = "instructions"


@dataclass(frozen=True)
class AttributedCounts(Kind):
    """Counts by function, ring, address space and reason for entering the kernel."""

    option = "--attribute"
    options: ClassVar = {
        option: {
            "action": "append",
            "default": [],
            "choices": (*ATTRIBUTIONS, LINES),
            "help": "functions: also count by function, ring, address space and reason for entering"
            " the kernel. stacks: also count by caller. misses: also count by reason of each cache"
            " miss. lines: also count by source line of the program of --program. `show"
            " --attribution` shows the counts. May be repeated",
        }
    }
    unasked: ClassVar = {"attribute": []}
    outputs = (ATTRIBUTION,)
    apart = ("run.attribution", "run.attribution_stacks", "run.attribution_misses")

    by: tuple[str, ...]  # of ATTRIBUTIONS and LINES, sorted

    @classmethod
    def parse(cls, args: argparse.Namespace) -> Self | None:
        """The values of --attribute without repetitions; None if the option is missing. A trace of
        misses needs their classes."""
        by = {*args.attribute, *({"misses"} & {*args.trace})}
        return cls(tuple(sorted(by))) if by else None

    @property
    def every_access(self) -> str:
        """The options that count misses by class if the user gave one of them, because the engine
        then follows each cache line, else empty."""
        return "--attribute misses (also --trace misses, --by cause)" if "misses" in self.by else ""

    @property
    def with_nominal(self) -> bool:
        """True unless the misses are classified."""
        return not self.needs_clocks

    @property
    def label(self) -> str:
        """The values of --attribute, such as "by functions, stacks"."""
        return f"by {', '.join(self.by)}"

    def boot(self) -> Conf:
        """Whether misses are counted by class: the classes depend on all accesses since reset."""
        return {"run.attribution_misses": "on"} if "misses" in self.by else {}

    def job(self) -> Conf:
        """The output file, the table of functions, and whether stacks are counted."""
        return {
            "run.attribution": ATTRIBUTION,
            "run.functions": FUNCTIONS,
            "run.attribution_stacks": "on" if "stacks" in self.by else "off",
        }

    def inputs(self, lab: Lab, run: Target) -> dict[str, bytes]:
        """functions.txt: the functions of the kernel and of the guest's programs, by address and
        page. With LINES, also sources.json: the content of each source file of the program, as it
        is now. Raises UserError if the kernel's symbols are missing."""
        by_line = LINES in self.by
        named = [name.partition("=")[2] for name in self.by if name.startswith(INSTRUCTIONS)]
        text = functions.table(lab, run, lines=by_line, instructions=named[0] if named else None)
        files = {FUNCTIONS: text.encode()}
        return files | {SOURCES: _sources(run)} if by_line else files

    def check(self, run: Target) -> None:
        """Raises UserError if counts by line are requested for a run without a program of the user,
        or for a program without debug information."""
        if LINES in self.by and not _lines(run):
            raise UserError(
                f"--attribute lines: {run.program.name if run.program else run.workload.name} has"
                " no debug information: expected a program that was compiled with -g, or a source"
                " file, after --program"
            )

    def commands(self, runs: str) -> list[str]:
        """The command that shows the counts."""
        if LINES in self.by:
            return [f"Counts by source line: `./p5lab show {runs} --attribution --source`"]
        return [f"Counts by function: `./p5lab show {runs} --attribution`"]


def _lines(run: Target) -> list[source_lines.Range]:
    """The source lines of the user's program; empty if there are none."""
    program = run.program
    if not isinstance(program, OwnProgram):
        return []
    try:
        elf = Elf(program.path.read_bytes())
        return source_lines.ranges(elf.image, elf.segments)
    except (OSError, ValueError) as error:
        raise UserError(f"--attribute lines: {program.name}: {error}") from None


def _sources(run: Target) -> bytes:
    """The text of sources.json. A file that does not exist here is omitted: a program can contain
    libraries whose source is not here."""
    files = {}
    for name in sorted({span.file for span in _lines(run)}):
        path = Path(name)
        try:
            if path.is_file() and path.stat().st_size <= LARGEST:
                files[name] = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
    return json.dumps({"schema_version": 1, "files": files}, indent=0).encode()
