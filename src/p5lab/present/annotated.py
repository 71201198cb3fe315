# SPDX-License-Identifier: MIT
"""Source and assembly of a program beside each other, with the pipe and the clocks of each
instruction, for `./p5lab annotate`."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby
from operator import attrgetter
from pathlib import Path

from rich.console import Console

from p5lab.describe import disassembly, source_lines
from p5lab.describe.elf import Elf
from p5lab.describe.markers import WHOLE_PHASE
from p5lab.describe.observation.attribute import ATTRIBUTION
from p5lab.errors import UserError, unknown
from p5lab.keep.store import Stored
from p5lab.present import pipes, tables
from p5lab.present.tables import Grid, share
from p5lab.terminal import for_terminal, markup
from p5stats import attribution
from p5stats.metrics import MISSES

TIMES = "instructions"
NO_LINE = "(no line)"  # of code without a source line
# Why an instruction begins alone in U, by component. In counts by instruction, a clock belongs to
# the instruction that begins in it, also if the next one is the reason.
ALONE = {
    "cpi.single.first": "takes no companion",
    "cpi.single.second": "the next cannot go into V",
    "cpi.single.registers": "the next needs its register",
    "cpi.single.new_code": "code is new in L1I",
    "cpi.single.other": "",  # an interrupt, an exception or a marker
}


class CountedInstruction(pipes.Instruction):
    """An instruction with the counts of the whole run."""

    @property
    def reasons(self) -> list[str]:
        """Why it begins alone in most of its executions: the most frequent reason, with its number
        unless it is the only one. Empty if it mostly was in V or began a pair."""
        alone = {text: self.counts.get(component, 0) for component, text in ALONE.items()}
        text = max(alone, key=lambda reason: alone[reason])
        if 2 * sum(alone.values()) <= self.times or not text:
            return []
        some = f" ({pipes.amount(alone[text])} of {pipes.amount(self.times)})"
        return [text + (some if alone[text] < self.times else "")]

    @property
    def misses(self) -> str:
        """The misses by kind."""
        counts = ((text, self.counts.get(event, 0)) for text, event in MISSES.items())
        return ", ".join(f"{text} {pipes.amount(count)}" for text, count in counts if count)

    @property
    def about(self) -> str:
        """Why it is alone, its further clocks, and its misses."""
        return "; ".join(filter(None, [self.why, self.misses and f"misses: {self.misses}"]))


@dataclass(frozen=True)
class Block:
    """Instructions that stand together and belong to one source line. `source`: its text, which may
    be empty."""

    file: str
    line: int
    source: str
    instructions: tuple[CountedInstruction, ...]

    @property
    def clocks(self) -> float:
        """Busy clocks of all its instructions."""
        return sum(row.clocks for row in self.instructions)


@dataclass(frozen=True)
class Code:
    """A function with its instructions that were executed, in the order of their addresses."""

    name: str
    module: str
    blocks: tuple[Block, ...]

    @cached_property
    def clocks(self) -> float:
        """Busy clocks in the whole run."""
        return sum(block.clocks for block in self.blocks)

    @property
    def instructions(self) -> list[CountedInstruction]:
        """All instructions."""
        return [row for block in self.blocks for row in block.instructions]


@dataclass(frozen=True)
class Annotated:
    """The functions of a run, those with the most clocks first. `clocks`: all busy clocks of the
    run, also of code that is not here."""

    name: str
    clocks: float
    functions: tuple[Code, ...]
    sources: Mapping[str, list[str]] = field(default_factory=dict)

    def function(self, name: str) -> Code:
        """The function with this name. Raises UserError for an unknown name."""
        for code in self.functions:
            if code.name == name:
                return code
        raise unknown("function", name, [code.name for code in self.functions], where=self.name)


def of(stored: Stored, name: str, files: Sequence[Path]) -> Annotated:
    """The functions of a run with counts by instruction. `files`: the ELF files with the code."""
    counted = attribution.read(stored.directory / ATTRIBUTION)
    phases = [WHOLE_PHASE] if WHOLE_PHASE in counted.counts else list(counted.counts)
    total = 0.0
    places: defaultdict[tuple[str, str], defaultdict[int, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for phase in phases:
        for number, counts in counted.counts[phase].items():
            function = counted.nodes[number].function
            named = dict(zip(counted.events, counts, strict=True))
            total += named.get(pipes.BUSY, 0)
            if function.file.startswith("0x"):
                places[function.name, function.module][int(function.file, 16)].update(named)
    if not places:
        raise UserError(f"{name}: no instruction was counted: the code was not executed", status=1)
    texts: dict[int, str] = {}
    lines: list[source_lines.Range] = []
    for file in files:
        image = file.read_bytes()
        wanted = [at for by_address in places.values() for at in by_address]
        texts |= disassembly.texts(
            file, first=min(wanted, default=0), end=max(wanted, default=0) + 16
        )
        lines += source_lines.ranges(image, Elf(image).segments)
    if not texts:
        raise UserError("annotate: the host has no objdump: install binutils", status=1)
    sources = _sources(lines)
    functions = [
        Code(*key, tuple(_blocks(by_address, texts, sorted(lines), sources)))
        for key, by_address in places.items()
    ]
    functions = [code for code in functions if code.clocks]
    functions.sort(key=lambda code: (-code.clocks, code.name))
    return Annotated(name, total, tuple(functions), sources)


def _sources(lines: Sequence[source_lines.Range]) -> dict[str, list[str]]:
    """The lines of each source file that is on this host."""
    sources = {}
    for file in {line.file for line in lines}:
        path = Path(file)
        if path.is_file():
            sources[file] = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return sources


def _blocks(
    counts: Mapping[int, Mapping[str, float]],
    texts: Mapping[int, str],
    lines: Sequence[source_lines.Range],
    sources: Mapping[str, list[str]],
) -> list[Block]:
    instructions = []
    for address in sorted(counts):
        place = source_lines.at(lines, address)
        file, line = (place.file, place.line) if place else ("", 0)
        own = counts[address]
        text = texts.get(address, "?")
        instructions.append(CountedInstruction(address, file, line, text, own.get(TIMES, 0), own))
    blocks = []
    for (file, line), together in groupby(instructions, key=attrgetter("place", "line")):
        whole = sources.get(file, [])
        source = whole[line - 1] if 0 < line <= len(whole) else ""
        blocks.append(Block(file, line, source, tuple(together)))
    return blocks


# --- in the terminal ------------------------------------------------------------------------------


def show(console: Console, program: Annotated, function: str, form: str) -> None:
    """Prints one function as table, markdown, csv or json; the one with the most clocks if
    `function` is empty."""
    code = program.function(function) if function else program.functions[0]
    if form != "table":
        tables.show(console, form, [_grid(program, code)], [], rows(code))
    else:
        console.file.write(_listing(program, code))
        first = program.functions[:8]
        shares = [f"{code.name} {share(code.clocks, program.clocks)}" for code in first]
        console.print(markup(f"Functions: {', '.join(shares)}"))


def _title(program: Annotated, code: Code) -> str:
    return (
        f"{code.name} in {program.name}: {code.clocks:,.0f} of {program.clocks:,.0f} clocks"
        f" ({share(code.clocks, program.clocks)})"
    )


def _listing(program: Annotated, code: Code) -> str:
    """Each source line, and its instructions below it."""
    lines = [_title(program, code), f"{'clocks':>12} {'times':>10}  pipe  code"]
    for block in code.blocks:
        number = f"{block.line:>4}  " if block.line else NO_LINE
        lines.append(f"{block.clocks:>12,.0f}{'':18}{number}{block.source.strip()}")
        for row in block.instructions:
            text = f"{row.clocks:>12,.0f} {row.times:>10,.0f}  {row.pipe:4}    {row.text}"
            lines.append(f"{text:<66}  {row.about}".rstrip())
    return "".join(f"{for_terminal(line)}\n" for line in lines)


def _grid(program: Annotated, code: Code) -> Grid:
    grid = Grid(_title(program, code), ["line", "code", "clocks", "times", "pipe", "why alone"])
    for block in code.blocks:
        number = str(block.line) if block.line else NO_LINE
        grid.add(number, block.source.strip(), f"{block.clocks:,.0f}")
        for row in block.instructions:
            numbers = f"{row.clocks:,.0f}", f"{row.times:,.0f}"
            grid.add("", row.text, *numbers, row.pipe, row.about)
    return grid


def rows(code: Code) -> list[dict[str, object]]:
    """A row for each instruction, for csv, json and Python."""
    return [
        {
            "function": code.name,
            "address": row.address,
            "file": row.place,
            **row.row(),
            **{event: row.counts.get(event, 0) for event in MISSES.values()},
        }
        for row in code.instructions
    ]
