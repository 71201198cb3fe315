# SPDX-License-Identifier: MIT
"""Selects stored runs by the words of a command line: ids of runs, and names of experiments."""

import re
import shlex
import sys
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from p5lab.describe import engine, experiment, experiment_file
from p5lab.describe.observation.clocks import is_nominal
from p5lab.describe.program_files import STDIN
from p5lab.describe.run import Run, is_named
from p5lab.errors import UserError, few, nearest, unknown
from p5lab.keep import index, named, store, swept_keys
from p5lab.keep.store import Stored
from p5lab.lab import Lab, shown
from p5stats.record import program_digest

IDS = 4  # the name of a page contains at most this number of ids
CALLED = "called"  # an entry that only records in memory have
PATHS = ("--program", STDIN)  # options of a program whose value is a file of this host
ENDED = ("ok", "failed", "timeout")
Kind = tuple[object, ...]


def kind(stored: Stored, keys: Iterable[str] = (), *, labels: bool = False) -> Kind:
    """Returns a key that is equal for runs of the same kind. A later run of a kind replaces an
    earlier run in reports.

    Two runs are of the same kind if their engine, machine, guest, seed, workload and parameters are
    equal, and if both or none of them simulate samples or have nominal clocks. The build products
    may differ, but a program of the user must have the same bytes. With `labels`, runs
    with different labels are of different kinds. Two machines are equal if they
    have the same overlay, and the same values of the machine keys in `keys`.
    """
    record = stored.record
    machine = record["machine"]
    return (
        record["engine"],
        machine["name"],
        swept_keys.geometry(record, keys),
        tuple(sorted(machine.get("shadows", {}))),
        record["feedback"],
        record["guest"]["name"],
        record["seed"],
        record["workload"]["name"],
        tuple(sorted(record["parameters"].items())),
        bool(record.get("request", {}).get("sample")),
        is_nominal(record),
        program_digest(record),
        named.of(record).label if labels else "",
    )


def by_kind(
    stored: Iterable[Stored], keys: Iterable[str] = (), *, labels: bool = False
) -> dict[Kind, list[Stored]]:
    """Returns the finished runs, grouped by `kind` with `keys` and `labels`.

    In each group, runs with status ok come before failed runs. Among runs with status ok, and among
    failed runs, newer runs come before older runs.
    """
    ended: dict[Kind, list[Stored]] = {}
    for run in stored:
        if run.status in ENDED and run.record["identity"]:
            ended.setdefault(kind(run, keys, labels=labels), []).append(run)
    for same in ended.values():
        same.sort(key=lambda run: (run.status == "ok", run.started), reverse=True)
    return ended


def as_asked(stored: Stored, run: Run) -> Stored:
    """Returns a stored run with the overlay and the label of `run`, which has the same inputs.

    An overlay that sets the machine's own values makes no other inputs. So the stored run may have
    another overlay in its record, according to the command that made it.
    """
    if not stored.record["identity"]:
        return stored
    machine = {**stored.record["machine"], "geometry": run.machine.geometry}
    asked = {"machine": machine, "label": run.label, CALLED: run.called}
    if program := run.program:
        asked |= {"program": program.recorded, "parameters": run.parameters}
    return Stored(stored.directory, stored.record | asked)


def called(record: Mapping[str, Any]) -> str:
    """Returns the name that distinguishes a run from those with which it is compared: the user's
    label, and the name of its program if programs are compared. Otherwise empty."""
    return ": ".join(filter(None, (named.of(record).label, str(record.get(CALLED, "")))))


def as_versions(runs: Sequence[Stored]) -> list[Stored]:
    """Returns the runs. Runs of different programs of the user become runs of versions of one
    program, each called by its own name; also runs of one program if only some have a label."""
    names = {head(run.record) for run in runs}
    own = all(run.record["experiment"] == experiment.PROGRAM for run in runs)
    labels = [named.of(run.record).label for run in runs]
    is_told = all(labels) and len(set(labels)) == len(runs)
    if is_told or not own or all(run.record.get(CALLED) for run in runs):
        return list(runs)
    is_one = len({_program(run.record) for run in runs}) == 1
    if is_one and all(labels) == any(labels):
        return list(runs)
    versions = []
    for run in runs:
        is_clear = is_one or len(names) > 1
        tag = "" if is_clear else f" [{program_digest(run.record)[:4]}]"
        record = {**run.record, CALLED: run.record.get(CALLED) or f"{head(run.record)}{tag}"}
        if len(set(labels)) == 1:
            record.pop(named.KEY, None)  # a label of all distinguishes nothing
        versions.append(Stored(run.directory, record))
    return versions


def _program(record: Mapping[str, Any]) -> tuple[str, str]:
    """What tells the programs of two runs apart: the bytes, and the name with the arguments."""
    return program_digest(record), head(record)


def subject(record: Mapping[str, Any]) -> str:
    """Returns what a run measures: the beginning of its label, or PROGRAM for a version of a
    program that is compared with other versions."""
    is_version = called(record) and record["experiment"] == experiment.PROGRAM
    return experiment.PROGRAM if is_version else head(record)


def is_group(lab: Lab, word: str) -> bool:
    """Whether a word names all runs of an experiment, and not one run. An experiment's name is the
    name of its directory in results."""
    return word in _experiments(lab)


def groups(lab: Lab, words: Sequence[str], only: str = "") -> list[list[Stored]]:
    """Returns the runs that the words name. Each list contains the runs of one kind, the run to
    show first.

    A word is the name of an experiment with results, `program`, the first 4 or more characters of a
    run's id, or a label. A name stands for every finished run of the experiment, and a label for
    every finished run with it. An id stands for this one run. `only`: selects the runs with this
    text in their names (* matches any text, ? any character). Raises UserError if a word names
    nothing, or if no finished run is left.
    """
    by_id: dict[str, list[Stored]] = {}
    for word in words:
        for same in _named(lab, word):
            by_id.setdefault(same[0].id, same)
    chosen = [same for same in by_id.values() if is_named(str(same[0].record["label"]), only)]
    if not chosen and only:
        raise UserError(f"--only {only}: none of the stored runs has this text in its name")
    if not chosen:
        raise UserError(f"{' '.join(words)}: no run has finished")
    return chosen


def _named(lab: Lab, word: str) -> list[list[Stored]]:
    if is_group(lab, word):
        check_clear(lab, word)
        return _of_experiment(lab, word)
    labelled = [] if is_id(word) else _labelled(lab, word)
    if len(labelled) > 1:
        return list(by_kind(labelled, labels=True).values())
    return [[finished(labelled[0] if labelled else find(lab, word))]]


def _labelled(lab: Lab, label: str) -> list[Stored]:
    """Returns the finished runs with this label, shown with it, in the order in which they were
    asked for."""
    runs = map(index.whole, _with_label(lab, label))
    return [Stored(run.directory, named.found_by(run.record, label)) for run in runs]


def _with_label(lab: Lab, label: str) -> list[Stored]:
    """Returns the same runs with the records of the index."""
    ended = (run for run in index.runs(lab) if run.status in ENDED)
    return sorted((run for run in ended if label in named.of(run.record).labels), key=_asked)


def _asked(stored: Stored) -> tuple[str, Kind]:
    """The place of a run in the order in which the user asked for the runs."""
    return stored.asked, numbered(str(stored.record["label"]))


def numbered(text: str) -> Kind:
    """A key that sorts texts by the size of the numbers in them: `n=64`, `n=1024`; `64K`, `1M`."""
    parts = re.split(r"([0-9]+(?:[KMG]\b)?)", text)
    return tuple(_number(part) if place % 2 else part for place, part in enumerate(parts))


def _number(text: str) -> float:
    digits = text.rstrip("KMG")
    return float(digits) * 1024 ** " KMG".index(text[len(digits) :] or " ")


def has_several(lab: Lab, word: str) -> bool:
    """Whether a word names runs of several kinds: an experiment, or a label of several runs."""
    return is_group(lab, word) or (not is_id(word) and len(by_kind(_labelled(lab, word))) > 1)


def check_clear(lab: Lab, name: str) -> None:
    """Raises UserError if the name of an experiment is also the label of runs, given before there
    was such an experiment."""
    if same := _with_label(lab, name):
        raise UserError(
            f"{name} is an experiment and the label of {listed_runs(same)}: expected ids, or"
            f" another label: `./p5lab label {same[0].id[:8]} TEXT`"
        )


def repeated(words: Sequence[str]) -> str:
    """A sentence about words that name the same runs again; otherwise empty."""
    again = [word for word, number in Counter(words).items() if number > 1]
    return f"named twice, taken once: {', '.join(again)}" if again else ""


def listed_runs(runs: Iterable[Stored]) -> str:
    """The first of these runs for a message: the beginning of the id, and what it measures."""
    return few(f"{run.id[:8]} ({head(run.record)})" for run in runs)


def is_label(lab: Lab, word: str) -> bool:
    """Whether a finished run has this label."""
    return bool(_with_label(lab, word))


def name_of(lab: Lab, words: Sequence[str], groups: Sequence[list[Stored]]) -> str:
    """Returns a name for the file of a page about stored runs: the experiment's name, or `runs-`
    and the beginning of the ids."""
    if len(words) == 1 and is_group(lab, words[0]):
        return words[0]
    ids = [same[0].id[:8] for same in groups]
    more = f"-and-{len(ids) - IDS}-more" if len(ids) > IDS else ""
    return f"runs-{'-'.join(ids[:IDS])}{more}"


def _of_experiment(lab: Lab, name: str) -> list[list[Stored]]:
    """Returns the finished runs of an experiment by kind, in the order of the workloads in the
    experiment's file, or of programs and media of the user in the order in which they were asked
    for. A run with the machine's own values is of the same kind as a run of a sweep with these
    values."""
    order = places(lab, name)["workload"]

    def place(stored: Stored) -> tuple[object, ...]:
        workload = stored.record["workload"]["name"] if stored.record["identity"] else ""
        return order.get(workload, len(order)), *reversed(_asked(stored))

    stored = sorted(store.all_runs(lab, name), key=_asked if name in experiment.OWN else place)
    say_left_out(lab, stored, name)
    changed = dict.fromkeys(
        key for run in stored if run.record["identity"] for key in swept_keys.overlay(run.record)
    )
    return _apart(_distinct(list(by_kind(stored, changed, labels=True).values())))


def say_left_out(lab: Lab, stored: Iterable[Stored], name: str = "*") -> None:
    """Prints which runs a view leaves out, because their records are missing or damaged. `stored`:
    all runs of the experiment `name`, by default of all experiments."""
    known = {run.directory for run in stored if run.record["reason"] != store.DAMAGED}
    lost: dict[str, list[str]] = {}
    for place in sorted(lab.results.glob(f"{name}/*")):
        if place not in known and store.is_lost(place):
            lost.setdefault(place.parent.name, []).append(shown(place))
    for own, places in lost.items():
        print(
            f"p5lab: {own}: {len(places)} left out, because {store.RECORD} is missing or damaged:"
            f" {few(places)}; `{_command(own, '')}` with the options of the runs makes them again",
            file=sys.stderr,
        )


def _distinct(groups: list[list[Stored]]) -> list[list[Stored]]:
    """Gives programs of the user that have one name and different bytes different labels:
    `matrix.c [1a2b]`, with the beginning of the digest."""
    digests: dict[str, set[str]] = {}
    for same in groups:
        digests.setdefault(head(same[0].record), set()).add(program_digest(same[0].record))
    return [
        [_tagged(same[0]), *same[1:]] if len(digests[head(same[0].record)]) > 1 else same
        for same in groups
    ]


def _apart(groups: list[list[Stored]]) -> list[list[Stored]]:
    """Calls programs of the user that share a label by their own names, too, because a label and a
    program together name a version."""
    sharing: dict[str, set[tuple[str, str]]] = {}
    for same in groups:
        if same[0].record["experiment"] == experiment.PROGRAM:
            label = named.of(same[0].record).label
            sharing.setdefault(label, set()).add(_program(same[0].record))
    apart = {label for label, programs in sharing.items() if label and len(programs) > 1}
    return [
        [_called_so(same[0], head(same[0].record)), *same[1:]]
        if named.of(same[0].record).label in apart
        else same
        for same in groups
    ]


def _called_so(stored: Stored, name: str) -> Stored:
    return Stored(stored.directory, {**stored.record, CALLED: name})


def _tagged(stored: Stored) -> Stored:
    name, comma, rest = str(stored.record["label"]).partition(", ")
    label = f"{name} [{program_digest(stored.record)[:4]}]{comma}{rest}"
    return Stored(stored.directory, {**stored.record, "label": label})


def head(record: Mapping[str, Any]) -> str:
    """Returns the start of a run's label, up to the comma: the workload and its parameters."""
    return str(record["label"]).split(", ")[0]


def places(lab: Lab, name: str) -> dict[str, dict[str, int]]:
    """Returns the place of each machine, guest and workload in the file of an experiment. None have
    a place if there is no such file, or if it is wrong now: the stored runs can be shown without
    it."""
    columns: dict[str, list[str]] = {"machine": [], "guest": [], "workload": []}
    with suppress(UserError):
        file = experiment_file.read(lab, name)
        workloads = [entry.workload.name for entry in file.entries]
        columns = {"machine": file.machines, "guest": file.guests, "workload": workloads}
    return {
        column: {value: place for place, value in enumerate(dict.fromkeys(names))}
        for column, names in columns.items()
    }


def is_id(word: str) -> bool:
    """Whether a word has the form of the first 4 or more characters of a run's id."""
    return re.fullmatch(r"[0-9a-f]{4,}", word) is not None


def find(lab: Lab, word: str, options: str = "") -> Stored:
    """Returns the run with an id that begins with `word`, or the newest run with this label. Raises
    UserError if there is no such run, or if runs of several kinds have the label. The message fits
    an id or a name, according to the word.
    `options`: the options of `run` that the caller's runs need, for the command in the message."""
    prefix = word.rstrip("/").rpartition("/")[2]
    if is_id(prefix):
        return store.find(lab, word)
    kinds = list(by_kind(_labelled(lab, word)).values())
    if len(kinds) == 1:
        return kinds[0][0]  # the newest
    if kinds:
        own = listed_runs(same[0] for same in kinds)
        raise UserError(f"{word}: {len(kinds)} runs have this label: {own}; expected one of them")
    if is_group(lab, word):
        own = listed_runs(same[0] for same in groups(lab, [word]))
        raise UserError(f"{word} is an experiment; expected one of its runs: {own}")
    known = experiment.names(lab)
    if word in (*known, *experiment.OWN):
        raise UserError(f"{word} has no results: run `{_command(word, options)}` first")
    names = [*_experiments(lab), *known]
    if nearest(word, names):
        raise unknown("run or experiment", word, names)
    raise UserError(
        f"no run or experiment {word!r}: expected the first 4 or more characters of an id that"
        " `./p5lab list runs` shows, or a name that `./p5lab list experiments` shows"
    )


def without(stored: Stored, what: str, options: str) -> UserError:
    """Returns the error for a run that has no `what`, because it was made without these options of
    `run`. The message contains the command that makes such a run."""
    command = " ".join(filter(None, (_again(stored.record), options)))
    failed = "" if stored.status == "ok" else f" ({stored.status})"
    return UserError(
        f"run {stored.id}{failed} has no {what}: expected a run with {options}, as `{command}`"
        " makes it"
    )


def _again(record: Mapping[str, Any]) -> str:
    """Returns the command that repeats a run; for a program of the user, with the options of the
    program, its system and its label."""
    name = str(record["experiment"])
    if name != experiment.PROGRAM or not record.get("program"):
        return _command(name, "")
    system, machine = record["guest"]["name"], record["machine"]["name"]
    given = {
        **_given(record["program"]),
        "--engine": _unless(record["engine"], engine.DEFAULT),
        "--guest": _unless(system, experiment.PROGRAM_GUEST),
        "--machine": _unless(machine, experiment.PROGRAM_MACHINE),
        "--set": [f"{key}={value}" for key, value in swept_keys.overlay(record).items()],
        "--seed": _unless(str(record["seed"]), "0"),
        "--label": named.of(record).label,
    }
    words = []
    for option, texts in given.items():
        for text in filter(None, [texts] if isinstance(texts, str) else texts):
            words += [f"{option}={text}"] if text.startswith("-") else [option, text]
    return f"./p5lab run {shlex.join(words)}"


def _given(program: Mapping[str, Any]) -> dict[str, str]:
    """The options of a program, with paths for the current directory. Records of older versions
    have only its name and arguments."""
    options = program.get("options")
    if not isinstance(options, dict):
        words = {"--args": shlex.join(map(str, program.get("arguments") or ()))}
        return {"--program": str(program["name"]), **words}
    return {
        option: shown(Path(text)) if option in PATHS and text.startswith("/") else text
        for option, text in options.items()
        if isinstance(text, str)
    }


def _unless(text: str, usual: str) -> str:
    return "" if text == usual else text


def _command(name: str, options: str) -> str:
    """Returns the command that makes the runs of an experiment with these options."""
    return " ".join(filter(None, ("./p5lab run", experiment.again(name), options)))


def finished(stored: Stored) -> Stored:
    """Returns a run that has ended. Raises UserError for another one, and for a damaged record."""
    if stored.status not in ENDED or not stored.record["identity"]:
        raise UserError(f"run {stored.id}: {stored.status}: it has no results")
    return stored


def _experiments(lab: Lab) -> list[str]:
    """Returns the names of the experiments that have results."""
    return sorted({path.parent.parent.name for path in lab.results.glob(f"*/*/{store.RECORD}")})
