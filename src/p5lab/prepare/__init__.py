# SPDX-License-Identifier: MIT
"""From a request to runs. Programs are compiled here, and files for the guest are written."""

from dataclasses import replace

from p5lab.describe import engine, experiment, ideal
from p5lab.describe.experiment import Expansion
from p5lab.describe.observation.clocks import NOMINAL, NominalClocks
from p5lab.describe.request import Request, UserMedia, UserProgram
from p5lab.describe.run import is_named
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.prepare import media, program


def prepare(lab: Lab, request: Request) -> Expansion:
    """Returns the runs of a request. Compiles the program if it is a source file, and writes the
    files that a run brings along. Builds nothing else.

    Raises UserError for a wrong name or value, and if the request selects no run.
    """
    axes = (*request.choice.sweeps, *ideal.parse(request.ideal))
    by_host = engine.chosen(request.choice.engine, lab)
    choice = replace(request.choice, sweeps=axes, engine=by_host)
    match request.what:
        case UserProgram() | tuple():
            expansion = program.runs(lab, request.what, choice)
        case UserMedia():
            expansion = media.runs(lab, request.what, choice)
        case _:
            expansion = experiment.expand(lab, request.what, choice)
    ideal.check(request.ideal, (run.machine for run in expansion.runs))
    if request.ideal and choice.observation.get(NominalClocks):
        raise UserError(f"{ideal.OPTION}: expected without --clocks {NOMINAL}")
    if not request.only:
        return expansion
    chosen = [run for run in expansion.runs if is_named(run.label, request.only)]
    if not chosen:
        raise UserError(
            f"--only {request.only}: no run has this text in its name; `./p5lab plan` with the same"
            " options shows the names"
        )
    return replace(expansion, runs=chosen)
