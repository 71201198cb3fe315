# SPDX-License-Identifier: MIT
"""The stored samples of the notebooks: `p5lab.sample` (notebooks/samples)."""

import tempfile
import zipfile
from pathlib import Path

import pandas as pd

from p5lab.api import checkout
from p5lab.errors import UserError, unknown
from p5stats import tidy

FOLDER, ARCHIVE, TABLE, OUTPUT = "notebooks/samples", "runs.zip", ".parquet", ".log"


def sample(name: str) -> pd.DataFrame:
    """A small stored table of counts, for a notebook that shall not make runs.

    name: the experiment of the sample, such as "smoke". The result is a table as `load` returns it,
    with a part of the brackets and events of the experiment's runs. `output` knows the output of
    its runs. UserError if there is no such sample.
    """
    folder = checkout.here().root / FOLDER
    alone = folder / f"{name}{TABLE}"
    if alone.is_file():
        return tidy.load(alone)
    with (
        tempfile.TemporaryDirectory(prefix="p5lab-sample-") as directory,
        _archive() as archive,
    ):
        member = f"{name}{TABLE}"
        if member not in archive.namelist():
            raise unknown("sample", name, sorted(_names(folder, archive)))
        return tidy.load(archive.extract(member, directory))


def _names(folder: Path, archive: zipfile.ZipFile) -> set[str]:
    paths = [*map(Path, archive.namelist()), *folder.iterdir()]
    return {path.stem for path in paths if path.suffix == TABLE}


def output(run: str) -> str:
    """The output of a run of a sample. UserError if no sample has it."""
    with _archive() as archive:
        if f"{run}{OUTPUT}" not in archive.namelist():
            raise UserError(f"output: no run {run} in the results and in the samples")
        return archive.read(f"{run}{OUTPUT}").decode("utf-8", "replace")


def _archive() -> zipfile.ZipFile:
    path = checkout.here().root / FOLDER / ARCHIVE
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise UserError(f"cannot read {path}: {error}") from None
