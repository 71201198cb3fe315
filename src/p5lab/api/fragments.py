# SPDX-License-Identifier: MIT
"""`p5lab.cycles`: the clocks of a fragment of code, from a script or a notebook cell."""

from collections.abc import Iterable, Mapping
from pathlib import Path

import pandas as pd

from p5lab.api import checkout
from p5lab.describe import experiment
from p5lab.describe import machine as machines
from p5lab.execute import fragment as execution
from p5lab.prepare import fragment as preparation
from p5lab.present import fragment_clocks


def cycles(
    what: str | Path,
    *,
    machine: str = experiment.PROGRAM_MACHINE,
    set: Mapping[str, str | int | float | bool] | None = None,
    function: str = "",
    args: Iterable[str | int] = (),
    registers: Mapping[str, str | int] | None = None,
    cflags: str = "",
) -> pd.DataFrame:
    """Times a few instructions without an operating system, as `./p5lab cycles` does
    (docs/start/cycles.md).

    what: a file in assembly language or C, assembler text, or bytes in hexadecimal. machine: a
    machine. set: values of machine keys. function: the function of the file to call. args: its
    arguments: numbers, symbols of the file, or "memory", a page of words that are 1. registers:
    their values at the beginning. cflags: more options of the compiler.

    The result has one row for each instruction, for one iteration in the steady state: `address`,
    `place` (label or function and distance), `line` of the source, `instruction`, `times` (it is
    executed), `in_v` (executions in pipe V), `clocks` (their sum are the clocks of an iteration; a
    pair's clock belongs to its instruction in U), `not_in_v` (why) and `stalls` (further clocks by
    component of the CPI stack). UserError for a fragment that cannot be assembled, that raises an
    exception, or that does not end.
    """
    lab = checkout.here()
    board = machines.load(lab, machine)
    if set:
        board = board.with_set(dict(set), "set")
    fragment = preparation.made(
        lab,
        str(what),
        function=function,
        arguments=list(map(str, args)),
        registers={name: str(value) for name, value in (registers or {}).items()},
        cflags=cflags,
    )
    execution.ensure(lab)
    clocks = fragment_clocks.of(*execution.traced(lab, board, fragment))
    return pd.DataFrame(fragment_clocks.as_rows(clocks))
