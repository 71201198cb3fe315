# SPDX-License-Identifier: MIT
"""Prints the differences between runs. By default the most important differences fit on a screen.

The order of the events of a phase: first the events of FIRST, then the events that a report counts,
then the other events. The events of each group are in the order of their relative change. One is
added to each count before the division, so that a rare event (less than once in a bracket) does not
come first because of a large ratio.
"""

import math
from collections.abc import Sequence

from rich.console import Console

from p5lab.describe.keys import readable
from p5lab.keep import named
from p5lab.present import diff, tables
from p5lab.present.counts import NO_LIMIT
from p5lab.present.diff import ALL_RINGS, Difference, EventDifference, InputDifference
from p5lab.present.headline import LINES
from p5lab.present.tables import MISSING, Grid, lines_of, number, times
from p5lab.terminal import markup
from p5stats import metrics

OPTION = "--all-rows"
FIRST = ("time.wall", "cycles.busy", "nominal.cycles.busy", diff.INSTRUCTIONS)
INPUTS = 8  # rows of inputs on a screen
RESERVED = 2  # lines of a screen: the command, and the prompt after the output
EACH = 3  # the fewest rows of a phase that say more than its first row
FEWEST = 6  # rows of events that are shown in any case
MEANS = (
    "Counts are means of one bracket. `run` and `show` subtract the empty bracket (the cost of the"
    " markers); this table does not. Order: time, busy cycles and instructions, then the other"
    " events of a report, then all others; in each group the largest relative change first."
)
EQUAL = "All counts are equal."


def show(console: Console, difference: Difference, form: str, *, all_rows: bool = False) -> None:
    """Prints a difference as table, markdown, csv or json. The table contains the most important
    differences, or all differences with `all_rows`. The other forms always contain all."""
    if form == "json":
        console.file.write(tables.as_json(**diff.document(difference)))
    elif form != "table":
        grids = [_runs(difference), *_everything(difference, NO_LIMIT)]
        tables.show(console, form, grids, [], diff.rows(difference))
    elif not difference.made and not difference.counted:
        console.print("No difference.")
    else:
        _print(console, difference, all_rows=all_rows)


def _print(console: Console, difference: Difference, *, all_rows: bool) -> None:
    width = console.width
    texts = [f"{stored.id[:8]}  {stored.record['label']}" for stored in difference.runs]
    if all_rows:
        grids, remarks = _everything(difference, width), [MEANS if difference.counted else EQUAL]
    else:
        above = sum(lines_of(text, width) for text in texts) + 1
        grids, remarks = _headline(difference, width, above)
    for text in texts:
        console.print(markup(text), highlight=False)
    console.print()
    tables.print_all(console, grids, remarks)


# --- the most important differences ---------------------------------------------------------------


def _headline(difference: Difference, width: int, above: int) -> tuple[list[Grid], list[str]]:
    """Returns the tables that fit on a screen below `above` lines, and the remarks below them."""
    made = ([row for row in difference.made if row.chosen] or difference.made)[:INPUTS]
    while len(made) > 1 and len(_inputs(difference, made).fitted(width).rows) > INPUTS:
        made = made[:-1]
    grids = [_inputs(difference, made).fitted(width)] if made else []
    if not difference.counted:
        rest = [] if len(made) == len(difference.made) else [_rest(difference, len(made), 0)]
        return grids, [EQUAL, *rest]
    remarks = [MEANS, _rest(difference, len(made), len(difference.counted))]
    used = above + RESERVED + sum(grid.height(width) for grid in grids)
    used += sum(lines_of(remark, width) for remark in remarks)
    events, shown = _events(difference, width, LINES - used)
    return [*grids, events], [MEANS, _rest(difference, len(made), shown)]


def _rest(difference: Difference, made: int, counted: int) -> str:
    """Returns the remark about the differences that are not shown."""
    ids = " ".join(stored.id[:8] for stored in difference.runs)
    rings = " --rings" if any(event.ring != ALL_RINGS for event in difference.counted) else ""
    return (
        f"Shown: {made} of {len(difference.made)} inputs that differ, {counted} of"
        f" {len(difference.counted)} counts that differ. Everything, also per 1000 instructions:"
        f" ./p5lab diff {ids}{rings} {OPTION}"
    )


def _events(difference: Difference, width: int, lines: int) -> tuple[Grid, int]:
    """Returns a table of at most `lines` lines with the most important events, and the number of
    events in it. If there are too many phases, each phase has one row."""
    phases = _by_phase(difference)
    every = [(_name(event), event) for event in difference.counted]
    ratios = _compared(difference, "", every, ratios=True).width <= width
    empty = _compared(difference, "title", [], ratios=ratios).height(width)
    parts = _compared(difference, "title", every[:1], ratios=ratios).height(width) - empty
    room = max(FEWEST, (lines - empty) // parts)
    rows: list[tuple[str, EventDifference | None]] = []
    if len(phases) == 1:
        ((phase, events),) = phases.items()
        title = f"{phase}: mean of one bracket"
        rows += [(_name(event), event) for event in events[:room]]
    elif (each := room // len(phases) - 1) >= EACH:
        title = "mean of one bracket of each phase"
        for phase, events in phases.items():
            rows.append((phase, None))
            rows += [(f"  {_name(event)}", event) for event in events[:each]]
    else:
        title = "mean of one bracket of each phase; the first event of each phase"
        firsts = {phase: events[0] for phase, events in phases.items()}
        rows += [(f"{phase}: {_name(event)}", event) for phase, event in firsts.items()][:room]
    shown = sum(event is not None for _, event in rows)
    return _compared(difference, title, rows, ratios=ratios).fitted(width), shown


def _by_phase(difference: Difference) -> dict[str, list[EventDifference]]:
    """Returns the events of each phase, the most important first. The phase with the largest change
    of its first event is the first."""
    phases: dict[str, list[EventDifference]] = {}
    for event in sorted(difference.counted, key=_rank):
        phases.setdefault(event.phase, []).append(event)
    return dict(sorted(phases.items(), key=lambda phase: -_change(phase[1][0])))


def _rank(event: EventDifference) -> tuple[int, float]:
    if event.event in FIRST:
        return FIRST.index(event.event), -_change(event)
    return len(FIRST) + (event.event not in metrics.reported()), -_change(event)


def _change(event: EventDifference) -> float:
    """Returns the largest relative change against the first run, as a logarithm. An event that one
    of the runs did not count has no change."""
    first, *others = event.values
    changes = [abs(math.log((other + 1) / (first + 1))) for other in others]
    return max((change for change in changes if not math.isnan(change)), default=0.0)


# --- the tables -----------------------------------------------------------------------------------


def _everything(difference: Difference, width: int) -> list[Grid]:
    """Returns the table of all inputs that differ, and for each phase the tables of all events that
    differ."""
    inputs = [_inputs(difference, difference.made).fitted(width)] if difference.made else []
    events = [
        grid.fitted(width)
        for phase in dict.fromkeys(event.phase for event in difference.counted)
        for grid in _all_of_phase(difference, phase, width)
    ]
    return inputs + events


def _all_of_phase(difference: Difference, phase: str, width: int) -> list[Grid]:
    """Returns a table of all events of a phase. The numbers per 1000 instructions are in a separate
    table if the table would be wider than `width` characters."""
    events = sorted((event for event in difference.counted if event.phase == phase), key=_rank)
    title = f"{phase}: mean of one bracket"
    counted = _compared(difference, title, [(_name(event), event) for event in events], ratios=True)
    heads = [f"{name}\nper 1000 instr." for name in _names(difference)]
    rated = Grid("", ["event", *heads])
    both = Grid(title, [*counted.heads, *heads])
    for event, row in zip(events, counted.rows, strict=True):
        rates = list(map(number, event.per_1000))
        rated.add(_name(event), *rates)
        both.add(*row, *rates)
    return [both] if both.width <= width else [counted, rated]


def _runs(difference: Difference) -> Grid:
    grid = Grid("", ["run", "what"])
    for name, stored in zip(_names(difference), difference.runs, strict=True):
        grid.add(name, named.shown(stored.record))
    return grid


def _inputs(difference: Difference, made: Sequence[InputDifference]) -> Grid:
    grid = Grid("different inputs", ["", *_names(difference)])
    for row in made:
        grid.add(row.what, *(_value(row.what, value) for value in row.values))
    return grid


def _value(what: str, value: str | None) -> str:
    """Returns the value of an input. A size in bytes is in short form, as in `l2.size=512K`."""
    return MISSING if value is None else readable(f"{what}={value}").removeprefix(f"{what}=")


def _compared(
    difference: Difference,
    title: str,
    rows: Sequence[tuple[str, EventDifference | None]],
    *,
    ratios: bool,
) -> Grid:
    """Returns a table of events with the count of each run. `rows`: the name of each row, and its
    event or None for a heading. `ratios`: also the ratios to the count of the first run."""
    names = _names(difference)
    heads = ["ratio"] if len(names) == 2 else [f"{name}\nratio" for name in names[1:]]
    heads = heads if ratios else []
    grid = Grid(title, ["event", *names, *heads])
    for name, event in rows:
        cells = [*map(number, event.values), *map(times, event.ratio[1:])] if event else []
        grid.add(name, *cells[: len(grid.heads) - 1])
    return grid


def _names(difference: Difference) -> list[str]:
    return [stored.id[:8] for stored in difference.runs]


def _name(event: EventDifference) -> str:
    return event.event if event.ring == ALL_RINGS else f"{event.event}, ring {event.ring}"
