# SPDX-License-Identifier: MIT
"""Saved states of ready systems: `run --save-state FILE` and `run --state FILE`.

A state is all memory of an engine at the ready point of a script, with the files of the run so far
(engine/session/saved_state.hh). A run continues it if the run would share a boot with the run that
saved the state (p5lab.execute.forkserver). The file is a ZIP archive. Its member `state.json` says
what the state was made of.
"""

import json
import os
import shutil
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any

from p5lab.describe import outputs as files
from p5lab.errors import UserError

SCHEMA_VERSION = 1
ABOUT, IMAGE = "state.json", "image"
DIRECTORY = "state"  # of the engine, in the run directory
ARCHIVE = files.file("state")
NOT_KEPT = (files.file("console"),)  # each engine has its own
LEVEL = 1  # of compression: most of a memory is zeros
# The C library chooses its functions for memory and texts by these features of the processor
# (sysdeps/x86_64/multiarch of glibc). A state has the functions that its host has chosen.
FEATURES = frozenset(
    "avx avx2 avx512bw avx512f avx512vl bmi1 bmi2 erms fma fsrm movbe popcnt rtm sse4_1 sse4_2"
    " ssse3 xsave xsavec".split()
)


def pack(directory: Path) -> None:
    """Packs the state that an engine has left in a run directory. Does nothing if there is none.
    Raises OSError if the archive cannot be written; then no part of it stays."""
    place, archive = directory / DIRECTORY, directory / ARCHIVE
    if not place.is_dir():
        return
    try:
        with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as packed:
            for path in sorted(place.iterdir()):
                if path.name not in NOT_KEPT:
                    packed.write(path, path.name)
    except BaseException:
        archive.unlink(missing_ok=True)
        raise
    finally:
        shutil.rmtree(place)


def describe(archive: Path, made_of: Mapping[str, Any]) -> None:
    """Adds the description to an archive of `pack`. `made_of`: forkserver.made_of() of its run."""
    with zipfile.ZipFile(archive, "a", zipfile.ZIP_DEFLATED, compresslevel=LEVEL) as packed:
        about = {
            "schema_version": SCHEMA_VERSION,
            "made_of": made_of,
            "processor": sorted(FEATURES & _features()),
        }
        packed.writestr(ABOUT, json.dumps(about, indent=1, sort_keys=True))


def check(path: Path, made_of: Mapping[str, Any]) -> None:
    """Raises UserError if a run cannot continue a state: the file is damaged, the run is made of
    something else, or this host's processor lacks something."""
    about = _about(path)
    saved = about["made_of"]
    if other := _difference(saved, made_of):
        raise UserError(
            f"{path}: the state was saved with another {other}; expected the machine, media, steps"
            " and engine of the run that saved it"
        )
    if lacks := sorted(set(about["processor"]) - _features()):
        raise UserError(
            f"{path}: the processor of this host lacks {', '.join(lacks)}; expected a host with at"
            " least the features of the one that saved the state"
        )


def unpack(path: Path, directory: Path) -> None:
    """Writes the files of a state into a run directory. Raises UserError for a damaged file and
    OSError if a file cannot be written."""
    try:
        with zipfile.ZipFile(path) as packed:
            for name in _members(packed, path):
                with packed.open(name) as source, (directory / name).open("wb") as target:
                    _copy_sparse(source, target)
    except (zipfile.BadZipFile, zlib.error, EOFError) as error:
        raise UserError(f"{path}: damaged: {error}", status=1) from None


def _copy_sparse(source: IO[bytes], target: IO[bytes]) -> None:
    """Copies a file. Blocks of zeros become holes."""
    while block := source.read(1 << 16):
        if block.count(0) == len(block):
            target.seek(len(block), os.SEEK_CUR)
        else:
            target.write(block)
    target.truncate()


def _members(packed: zipfile.ZipFile, path: Path) -> list[str]:
    """The names of the files of a state. Raises UserError for a name with a directory."""
    names = [name for name in packed.namelist() if name != ABOUT]
    for name in names:
        if name != Path(name).name or name in ("", ".", ".."):
            raise UserError(f"{path}: damaged: member {name!r}")
    return names


def _about(path: Path) -> dict[str, Any]:
    try:
        with zipfile.ZipFile(path) as packed:
            about = json.loads(packed.read(ABOUT))
            names = _members(packed, path)
    except OSError as error:
        raise UserError(f"{path}: cannot be read: {error.strerror or error}") from None
    except (zipfile.BadZipFile, zlib.error, KeyError, ValueError, EOFError, RecursionError):
        raise UserError(f"{path}: expected a state of `run --save-state`") from None
    version = about.get("schema_version") if isinstance(about, dict) else None
    if version != SCHEMA_VERSION:
        raise UserError(f"{path}: schema_version: expected {SCHEMA_VERSION}, found {version!r}")
    features = about.get("processor")
    if (
        IMAGE not in names
        or not isinstance(about.get("made_of"), dict)
        or not isinstance(features, list)
        or not all(isinstance(feature, str) for feature in features)
    ):
        raise UserError(f"{path}: damaged: {ABOUT} lacks entries")
    return about


def _difference(saved: object, now: object, where: str = "") -> str:
    """The first entry in which two descriptions differ; empty if there is none."""
    if isinstance(saved, dict) and isinstance(now, Mapping):
        for key in sorted({*saved, *now}):
            if difference := _difference(saved.get(key), now.get(key), f"{where}{key} "):
                return difference
        return ""
    return "" if saved == json.loads(json.dumps(now)) else where.strip()


def _features() -> frozenset[str]:
    """The features of this host's processor, as Linux names them."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return frozenset()
    flags = next((line for line in lines if line.startswith("flags")), ":")
    return frozenset(flags.partition(":")[2].split())
