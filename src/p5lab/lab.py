# SPDX-License-Identifier: MIT
"""The paths of the repository that the Python code uses.

Machines, guests, workloads, experiments, notebooks and observers may also lie outside of the
checkout. The environment variable P5LAB_PATH names these other directories, separated by colons.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from p5lab.errors import UserError

VARIABLE = "P5LAB_PATH"
RESULTS = "P5LAB_RESULTS"
CACHE = "P5LAB_CACHE"
# The patterns of the files of each kind: first in the checkout, then in a directory of P5LAB_PATH.
# The name of a guest, workload or observer is the name of its directory. The name of a machine,
# experiment or notebook is the name of its file.
PLACES = {
    "machine": ("configs/machines/*.toml", "machines/*.toml"),
    "experiment": ("configs/experiments/*.toml", "experiments/*.toml"),
    "guest": ("guest-images/*/guest.toml", "guests/*/guest.toml"),
    "workload": ("workloads/*/*/workload.toml", "workloads/*/workload.toml"),
    "notebook": ("notebooks/*.ipynb", "notebooks/*.ipynb"),
    "observer": ("engine/observe/*/observer.toml", "observers/*/observer.toml"),
}

# A directory of P5LAB_PATH contains one or more of these directories.
FOLDERS = (*sorted({others.partition("/")[0] for _, others in PLACES.values()}), "engines")


@dataclass(frozen=True)
class Lab:
    """A checkout of the repository.

    `results_in`: another directory for the results. `path`: directories with more
    machines, guests, workloads, experiments, notebooks and observers.
    """

    root: Path
    results_in: Path | None = None
    path: tuple[Path, ...] = ()

    @classmethod
    def here(cls) -> "Lab":
        """The checkout that contains this file, with the directories of P5LAB_PATH and the results
        of P5LAB_RESULTS."""
        given = os.environ.get(VARIABLE, "").split(os.pathsep)
        directories = tuple(dict.fromkeys(Path(name).absolute() for name in given if name))
        results = os.environ.get(RESULTS)
        if results and Path(results).exists() and not Path(results).is_dir():
            raise UserError(f"{RESULTS}: {results}: expected a directory")
        return cls(
            Path(__file__).resolve().parents[2],
            Path(results).absolute() if results else None,
            directories,
        )

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a process that works in another directory: relative directories of
        p5lab's variables become absolute."""
        names = [name for name in (CACHE, "P5LAB_DISTDIR") if os.environ.get(name)]
        absolute = {name: str(Path(os.environ[name]).absolute()) for name in names}
        return {**os.environ, **absolute, VARIABLE: os.pathsep.join(map(str, self.path))}

    def files(self, kind: str) -> dict[str, Path]:
        """The files of a kind (a key of PLACES) by name, in alphabetical order.

        Raises UserError if a directory of P5LAB_PATH does not exist or contains none of FOLDERS, or
        if two files give the same name.
        """
        ours, others = PLACES[kind]
        files: dict[str, Path] = {}
        for directory in (self.root, *self.path):
            if not directory.is_dir():
                raise UserError(f"{VARIABLE}: {directory}: expected a directory; there is none")
            has_some = any((directory / folder).is_dir() for folder in FOLDERS)
            if directory != self.root and not has_some:
                raise UserError(
                    f"{VARIABLE}: {directory}: expected one or more of the directories"
                    f" {', '.join(FOLDERS)} in it; found none"
                )
            pattern = ours if directory == self.root else others
            for file in directory.glob(pattern):
                name = file.stem if pattern.partition("*")[2].startswith(".") else file.parent.name
                if name in files:
                    raise UserError(
                        f"{kind} {name!r} has two files: {files[name]} and {file}; rename one of"
                        " these files"
                    )
                files[name] = file
        return dict(sorted(files.items()))

    def is_outside(self, file: Path) -> bool:
        """Whether a file from `files` lies in a directory of P5LAB_PATH."""
        return not file.is_relative_to(self.root) or any(
            file.is_relative_to(directory) for directory in self.path
        )

    @property
    def machines(self) -> Path:
        """The directory of the checkout's machines."""
        return self.root / "configs/machines"

    @property
    def disks(self) -> Path:
        """The directory of the disk drives that machines can name."""
        return self.root / "configs/disks"

    @property
    def experiments(self) -> Path:
        """The directory of the checkout's experiments."""
        return self.root / "configs/experiments"

    @property
    def claims(self) -> Path:
        """The file that lists the claims from papers, with the published numbers."""
        return self.root / "configs/claims.toml"

    @property
    def guests(self) -> Path:
        """The directory of the checkout's guests."""
        return self.root / "guest-images"

    @property
    def capabilities(self) -> Path:
        """The file of all capabilities that workloads can need and guests can have."""
        return self.root / "workloads/capabilities.toml"

    @property
    def parameters(self) -> Path:
        """The file of the parameters that several workloads share."""
        return self.root / "workloads/parameters.toml"

    @property
    def results(self) -> Path:
        """The directory of all results. Its subdirectory EXPERIMENT/RUN contains one run."""
        return self.results_in or self.root / "results"

    @property
    def engine(self) -> Path:
        """The built engine for 32-bit guests."""
        return self.root / "build/engine/p5bochs"

    @property
    def restorer(self) -> Path:
        """The program that continues a saved state of an engine."""
        return self.root / "build/engine/p5restore"

    @property
    def engine64(self) -> Path:
        """The built engine for x86-64 guests."""
        return self.root / "build/engine/p5bochs64"

    def record_of(self, engine: Path) -> Path:
        """The file in which the build describes the program `engine` or `engine64`."""
        return engine.with_name(f"{engine.name.replace('p5bochs', 'engine')}.json")

    @property
    def bochsrc(self) -> Path:
        """The template of Bochs's configuration."""
        return self.root / "engine/bochs/bochsrc.in"

    def timing(self, table: str) -> Path:
        """The table of instruction clocks for a value of cpu.timing. Raises KeyError for an unknown
        value."""
        return self.root / {"p54c": "engine/p5/timing.csv"}[table]

    @property
    def bios(self) -> Path:
        """The image of the BIOS."""
        return self.root / "build/engine/bios/BIOS-bochs-latest"

    @property
    def vgabios(self) -> Path:
        """The image of the BIOS of the video card."""
        return self.root / "build/engine/bios/vgabios.bin"

    @property
    def bootrom(self) -> Path:
        """The image of the boot ROM, which loads the guest."""
        return self.root / "build/bootrom/p5boot.rom"

    @property
    def cache_rom(self) -> Path:
        """The image of the option ROM that switches the caches on, for a guest that boots from its
        own media."""
        return self.root / "build/bootrom/caches.rom"

    @property
    def formatted_disk(self) -> Path:
        """The content of a machine's first SCSI disk at the start of a run."""
        return self.root / "build/disks/formatted.p5disk"

    @property
    def multiboot(self) -> Path:
        """The code that starts a multiboot kernel."""
        return self.root / "build/bootrom/multiboot.bin"

    def rootfs(self, guest: str) -> Path:
        """The root file system of a distribution, for the guest `guest`. The record of the root
        file system lies in the same directory."""
        return self.root / "build/images" / guest / "rootfs.tar"

    def program(self, programs: str, workload: str) -> Path:
        """The program of a workload, built for the guests with this value of `programs`."""
        return self.root / "build/workloads" / programs / workload

    def short(self, path: Path) -> str:
        """A path for records and for commands that run in the checkout. A path inside the checkout
        becomes relative to the checkout."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)


def shown(path: Path) -> str:
    """A path for messages. It is right in the directory of the user: relative to this directory if
    the path lies in it, absolute otherwise."""
    path, here = path.absolute(), Path.cwd()
    return str(path.relative_to(here)) if path.is_relative_to(here) else str(path)


def relative(path: Path, directory: Path) -> str:
    """A path as a process in `directory` sees it. Both may lie behind links, which the kernel
    follows before it follows `..`."""
    return os.path.relpath(path.parent.resolve() / path.name, directory.resolve())


def cache_directory() -> Path:
    """The directory of downloads and build products, which all checkouts share."""
    chosen = os.environ.get(CACHE)
    return Path(chosen).absolute() if chosen else Path.home() / ".cache/p5lab"
