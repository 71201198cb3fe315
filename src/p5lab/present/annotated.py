# SPDX-License-Identifier: MIT
"""Source and assembly of a program beside each other, with the pipe and the clocks of each
instruction, for `./p5lab annotate`."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
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


class Instruction(pipes.Instruction):
    """An instruction with the counts of the whole run."""

    @property
    def reasons(self) -> list[str]:
        """Why it begins alone in most of its executions: the most frequent reason, with its number
        unless it is the only one. Empty if it mostly was in V or began a pair."""
        alone = {text: self.counts.get(component, 0) for component, text in ALONE.items()}
        text = max(alone, key=lambda one: alone[one])
        if 2 * sum(alone.values()) <= self.times or not text:
            return []
        some = f" ({pipes.amount(alone[text])} of {pipes.amount(self.times)})"
        return [text + (some if alone[text] < self.times else "")]

    @property
    def misses(self) -> str:
        """The misses by kind."""
        found = ((text, self.counts.get(event, 0)) for text, event in MISSES.items())
        return ", ".join(f"{text} {pipes.amount(count)}" for text, count in found if count)

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
    instructions: tuple[Instruction, ...]

    @property
    def clocks(self) -> float:
        """Busy clocks of all its instructions."""
        return sum(one.clocks for one in self.instructions)


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
    def instructions(self) -> list[Instruction]:
        """All instructions."""
        return [one for block in self.blocks for one in block.instructions]


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
        for one in self.functions:
            if one.name == name:
                return one
        raise unknown("function", name, [one.name for one in self.functions], where=self.name)


def of(stored: Stored, name: str, files: Sequence[Path]) -> Annotated:
    """The functions of a run with counts by instruction. `files`: the ELF files with the code."""
    found = attribution.read(stored.directory / ATTRIBUTION)
    phases = [WHOLE_PHASE] if WHOLE_PHASE in found.counts else list(found.counts)
    total = 0.0
    places: defaultdict[tuple[str, str], defaultdict[int, Counter[str]]] = defaultdict(
        lambda: defaultdict(Counter)
    )
    for phase in phases:
        for number, counts in found.counts[phase].items():
            function = found.nodes[number].function
            named = dict(zip(found.events, counts, strict=True))
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
    functions = [one for one in functions if one.clocks]
    functions.sort(key=lambda one: (-one.clocks, one.name))
    return Annotated(name, total, tuple(functions), sources)


def _sources(lines: Sequence[source_lines.Range]) -> dict[str, list[str]]:
    """The lines of each source file that is on this host."""
    found = {}
    for file in {one.file for one in lines}:
        path = Path(file)
        if path.is_file():
            found[file] = path.read_text(encoding="utf-8", errors="replace").splitlines()
    return found


def _blocks(
    counts: Mapping[int, Mapping[str, float]],
    texts: Mapping[int, str],
    lines: Sequence[source_lines.Range],
    sources: Mapping[str, list[str]],
) -> list[Block]:
    found: list[Block] = []
    for address in sorted(counts):
        place = source_lines.at(lines, address)
        file, line = (place.file, place.line) if place else ("", 0)
        own = counts[address]
        text = texts.get(address, "?")
        one = Instruction(address, file, line, text, own.get(TIMES, 0), own)
        if found and (found[-1].file, found[-1].line) == (file, line):
            last = found.pop()
            found.append(Block(file, line, last.source, (*last.instructions, one)))
            continue
        whole = sources.get(file, [])
        source = whole[line - 1] if 0 < line <= len(whole) else ""
        found.append(Block(file, line, source, (one,)))
    return found


# --- in the terminal ------------------------------------------------------------------------------


def show(console: Console, found: Annotated, function: str, form: str) -> None:
    """Prints one function as table, markdown, csv or json; the one with the most clocks if
    `function` is empty."""
    code = found.function(function) if function else found.functions[0]
    if form != "table":
        tables.show(console, form, [_grid(found, code)], [], rows(code))
    else:
        console.file.write(_listing(found, code))
        others = [f"{one.name} {share(one.clocks, found.clocks)}" for one in found.functions[:8]]
        console.print(markup(f"Functions: {', '.join(others)}"))


def _title(found: Annotated, code: Code) -> str:
    return (
        f"{code.name} in {found.name}: {code.clocks:,.0f} of {found.clocks:,.0f} clocks"
        f" ({share(code.clocks, found.clocks)})"
    )


def _listing(found: Annotated, code: Code) -> str:
    """Each source line, and its instructions below it."""
    lines = [_title(found, code), f"{'clocks':>12} {'times':>10}  pipe  code"]
    for block in code.blocks:
        number = f"{block.line:>4}  " if block.line else NO_LINE
        lines.append(f"{block.clocks:>12,.0f}{'':18}{number}{block.source.strip()}")
        for one in block.instructions:
            text = f"{one.clocks:>12,.0f} {one.times:>10,.0f}  {one.pipe:4}    {one.text}"
            lines.append(f"{text:<66}  {one.about}".rstrip())
    return "".join(f"{for_terminal(line)}\n" for line in lines)


def _grid(found: Annotated, code: Code) -> Grid:
    grid = Grid(_title(found, code), ["line", "code", "clocks", "times", "pipe", "why alone"])
    for block in code.blocks:
        number = str(block.line) if block.line else NO_LINE
        grid.add(number, block.source.strip(), f"{block.clocks:,.0f}")
        for one in block.instructions:
            numbers = f"{one.clocks:,.0f}", f"{one.times:,.0f}"
            grid.add("", one.text, *numbers, one.pipe, one.about)
    return grid


def rows(code: Code) -> list[dict[str, object]]:
    """A row for each instruction, for csv, json and Python."""
    return [
        {
            "function": code.name,
            "address": one.address,
            "file": one.place,
            **one.row(),
            **{event: one.counts.get(event, 0) for event in MISSES.values()},
        }
        for one in code.instructions
    ]
