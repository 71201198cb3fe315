# SPDX-License-Identifier: MIT
"""The page of `./p5lab annotate`: source and assembly beside each other, folded by function, with
one colour scale. The page is one file and needs no network."""

import html
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path

from p5lab.present import same_lines
from p5lab.present.annotated import NO_LINE, Annotated, Block, Code
from p5lab.present.tables import share

CSS = Path(__file__).with_name("page.css")
MOST = 60  # functions
OPEN = 1  # functions that are unfolded at first
STRONGEST = 55  # percent of the colour, for the source line with the most clocks
STYLE = """
body { max-width: none; }
.code { width: 100%; font-family: ui-monospace, "Liberation Mono", monospace; font-size: .8rem; }
.code td, .code th { padding: .05rem .4rem; vertical-align: top; text-align: left; border: 0; }
.code .n { text-align: right; white-space: nowrap; }
.code pre { margin: 0; white-space: pre-wrap; font: inherit; }
.code tr.line > td { border-top: 1px solid var(--grid); }
.hot { background: color-mix(in srgb, var(--series-1) var(--heat), transparent); }
.scale { display: inline-block; width: 12rem; height: .8rem; border: 1px solid var(--grid);
  background: linear-gradient(to right, transparent,
  color-mix(in srgb, var(--series-1) 55%, transparent)); }
summary { font-weight: 600; }
"""
HEADS = ("line", "source", "clocks", "instruction", "clocks", "times", "pipe", "why alone")
NOTE = (
    "Clocks are busy clocks of the whole run, and a pair's clock belongs to its instruction in U."
    " Further clocks are components of the CPI stack. The colour of a cell is its share of the"
    " clocks of the source line with the most clocks. Beside a second version, the mouse over an"
    " instruction shows why it is alone in U, its further clocks and its misses."
)


def page(runs: Sequence[Annotated]) -> str:
    """The page of one run, or of two versions side by side with equal source lines matched."""
    title = " and ".join(run.name for run in runs)
    hottest = max(
        (block.clocks for run in runs for code in run.functions for block in code.blocks),
        default=1,
    )
    body = "".join(_function(runs, name, place, hottest) for place, name in enumerate(_names(runs)))
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{html.escape(title)}</title><style>{CSS.read_text(encoding='utf-8')}{STYLE}</style>"
        f"</head><body><h1>{html.escape(title)}</h1><p>{html.escape(NOTE)}</p>"
        f'<p>no clocks <span class="scale"></span> {hottest:,.0f} clocks</p>'
        f"{body}</body></html>\n"
    )


def _names(runs: Sequence[Annotated]) -> list[str]:
    """The names of the functions, those with the most clocks in one of the versions first."""
    most: dict[str, float] = {}
    for run in runs:
        for code in run.functions:
            most[code.name] = max(most.get(code.name, 0), code.clocks)
    return sorted(most, key=lambda name: (-most[name], name))[:MOST]


def _function(runs: Sequence[Annotated], name: str, place: int, hottest: float) -> str:
    codes = [next((code for code in run.functions if code.name == name), None) for run in runs]
    said = [
        f"{code.clocks:,.0f} clocks ({share(code.clocks, run.clocks)})" if code else "not executed"
        for run, code in zip(runs, codes, strict=True)
    ]
    opened = " open" if place < OPEN else ""
    heads = HEADS[: _columns(len(runs))]
    head = "".join(f"<th>{html.escape(text)}</th>" for text in heads * len(runs))
    names = "".join(f'<th colspan="{len(heads)}">{html.escape(run.name)}</th>' for run in runs)
    above = f"<tr>{names}</tr>" if len(runs) > 1 else ""
    rows = "".join(_rows(group, hottest) for group in _groups(codes))
    return (
        f"<details{opened}><summary>{html.escape(name)}: {html.escape(' | '.join(said))}</summary>"
        f'<div class="scroll"><table class="code"><thead>{above}<tr>{head}</tr></thead>'
        f"<tbody>{rows}</tbody></table></div></details>"
    )


def _columns(versions: int) -> int:
    """The columns of a version. Two versions have no room for the last column, which is then the
    hint of the instruction."""
    return len(HEADS) - (versions > 1)


def _groups(codes: Sequence[Code | None]) -> Iterator[tuple[Block | None, ...]]:
    """The blocks of the versions in rows: blocks with equal source lines are in one row."""
    first = list(codes[0].blocks) if codes[0] else []
    if len(codes) == 1:
        yield from ((block,) for block in first)
        return
    second = list(codes[1].blocks) if codes[1] else []
    for old, new in same_lines.blocks(_keys(first), _keys(second)):
        yield from zip_longest([first[at] for at in old], [second[at] for at in new])


def _keys(blocks: Sequence[Block]) -> list[str]:
    """What two blocks have in common if they belong to the same source."""
    return [block.source.strip() or str(block.line) for block in blocks]


def _rows(group: Sequence[Block | None], hottest: float) -> str:
    """The rows of blocks that stand beside each other: a row for each instruction."""
    height = max(len(block.instructions) for block in group if block)
    rows = []
    for i in range(height):
        cells = "".join(_cells(block, i, height, hottest, len(group)) for block in group)
        rows.append(f"<tr{' class=line' if i == 0 else ''}>{cells}</tr>")
    return "".join(rows)


def _cells(block: Block | None, i: int, height: int, hottest: float, versions: int) -> str:
    columns = _columns(versions)
    if block is None:
        return f'<td colspan="{columns}" rowspan="{height}"></td>' if i == 0 else ""
    cells = ""
    if i == 0:
        cells = (
            f'<td class="n" rowspan="{height}">{block.line or NO_LINE}</td>'
            f'<td rowspan="{height}"><pre>{html.escape(block.source)}</pre></td>'
            f'<td rowspan="{height}" {_heat(block.clocks, hottest)}>{block.clocks:,.0f}</td>'
        )
    if i >= len(block.instructions):
        return cells + "<td></td>" * (columns - 3)
    instruction = block.instructions[i]
    about = html.escape(instruction.about)
    hint, last = ("", f"<td>{about}</td>") if columns == len(HEADS) else (f' title="{about}"', "")
    return (
        f"{cells}<td{hint}><pre>{html.escape(instruction.text)}</pre></td>"
        f"<td {_heat(instruction.clocks, hottest)}>{instruction.clocks:,.0f}</td>"
        f'<td class="n">{instruction.times:,.0f}</td><td>{instruction.pipe}</td>{last}'
    )


def _heat(clocks: float, hottest: float) -> str:
    percent = STRONGEST * max(clocks, 0) / hottest if hottest else 0
    return f'class="n hot" style="--heat:{percent:.1f}%"'
