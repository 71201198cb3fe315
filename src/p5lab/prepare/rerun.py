# SPDX-License-Identifier: MIT
"""Repeats a run from its record, with the same machine, guest, program and seed."""

import os
from typing import Any

from p5lab.describe import engine, guest, machine, workload
from p5lab.describe.experiment import MEDIA, PROGRAM
from p5lab.describe.keys import overlay_of
from p5lab.describe.observation import Observation
from p5lab.describe.run import ImageRun, Run
from p5lab.errors import UserError, unknown
from p5lab.lab import PLACES, VARIABLE, Lab
from p5lab.prepare import files_floppy, media


def run_of(lab: Lab, record: dict[str, Any], id_: str) -> Run:
    """Returns the run with this id, as its record describes it. If values in the machine's file
    have changed since the recorded run, the recorded values are used. Raises UserError if the
    record lacks a necessary entry."""
    try:
        return _run_of(lab, record, id_)
    except (AttributeError, LookupError, TypeError, ValueError):
        raise UserError(
            f"run {id_}: its record lacks entries that a repetition of the run needs"
        ) from None


def _run_of(lab: Lab, record: dict[str, Any], id_: str) -> Run:
    asked = record.get("request")
    if not isinstance(asked, dict):
        raise UserError(
            f"run {id_} was recorded by an older p5lab, and its record has too few entries;"
            f" run experiment {record['experiment']} again"
        )
    if not engine.capabilities(record["engine"]).simulates:
        raise UserError(
            f"run {id_} measured this host; use `./p5lab run --engine {record['engine']}` instead"
        )
    if record["experiment"] == PROGRAM:
        raise UserError(
            f"run {id_} executed a program of your own, and its record contains only the"
            " program's digest; use `./p5lab run --program FILE` instead"
        )
    _check_described(lab, record, id_)
    if record["experiment"] == MEDIA:
        return _from_media(lab, record, id_, asked)
    known = workload.load(lab)
    name = record["workload"]["name"]
    if name not in known:
        raise unknown("workload", name, known, where=f"run {id_}")
    where = f"run {id_}"
    system = guest.built(guest.load(lab, record["guest"]["name"]))
    return ImageRun(
        experiment=record["experiment"],
        machine=_machine(lab, record["machine"], where),
        guest=system,
        workload=known[name],
        parameters=known[name].resolve(record["parameters"], where),
        given=tuple(asked["given"]),
        seed=record["seed"],
        feedback=asked["feedback"],
        limit_seconds=asked["limit_seconds"],
        engine=record["engine"],
        model=asked["model"],
        observation=Observation.of_record(record),
    )


def _check_described(lab: Lab, record: dict[str, Any], id_: str) -> None:
    """Raises UserError if a description came from a directory of P5LAB_PATH and is not there
    now."""
    for kind in ("machine", "guest", "workload"):
        name, file = record[kind]["name"], record.get("files", {}).get(kind)
        if file is None or name in lab.files(kind):
            continue
        ours, others = PLACES[kind]
        path = lab.root / file  # files of P5LAB_PATH have absolute paths
        if path.is_relative_to(lab.root) and path.match(ours):
            continue
        wanted = dict.fromkeys([*lab.path, path.parents[others.count("/")]])
        gone = "" if path.exists() else f", but there is no {path} now"
        raise UserError(
            f"run {id_}: {kind} {name} came from a directory of {VARIABLE}: expected"
            f" {VARIABLE}={os.pathsep.join(map(str, wanted))}{gone}"
        )


def _from_media(lab: Lab, record: dict[str, Any], id_: str, asked: dict[str, Any]) -> Run:
    name = record["guest"]["name"]
    if name not in guest.names(lab):
        raise UserError(
            f"run {id_} booted media that the command line named, and its record contains"
            " only their digests; use `./p5lab run` with --floppy, --disk or --cdrom instead"
        )
    if script := asked.get("script"):
        raise UserError(
            f"run {id_} executed the steps of {script}, and its record contains only their"
            f" digest; use `./p5lab run --guest {name} --script FILE` instead"
        )
    if (state := asked.get("state")) and state != "saved":
        raise UserError(
            f"run {id_} continued a saved state, and its record contains only the digest of"
            f" this state; use `./p5lab run --guest {name} --state FILE` instead"
        )
    if files_floppy.ROLE in record["media"] and all(
        medium.role != files_floppy.ROLE for medium in guest.media_guest(lab, name).media
    ):
        raise UserError(
            f"run {id_} had a floppy with files of {files_floppy.OPTION} or --programs in"
            f" drive B, and its record contains only their digest; use `./p5lab run --guest {name}`"
            " with the same options instead"
        )
    board = _machine(lab, record["machine"], f"run {id_}")
    observation = Observation.of_record(record)
    return media.again(lab, name, board, asked, observation)


def _machine(lab: Lab, was: dict[str, Any], where: str) -> machine.Machine:
    board = machine.load(lab, was["name"])
    overlay: dict[str, object] = dict(overlay_of(was["geometry"]))
    if overlay:
        board = board.with_set(overlay, where)
    now = board.canonical("engine", "bochsrc")
    changed: dict[str, object] = {
        key: value for key, value in was["values"].items() if now.get(key) != value
    }
    return board.with_set(changed, where) if changed else board
