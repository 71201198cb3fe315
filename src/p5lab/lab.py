# SPDX-License-Identifier: MIT
"""The paths of the repository that the Python side uses, each in one place.

Machines, guests, workloads, experiments and notebooks may also stand outside of the checkout: in
the directories that the environment variable P5LAB_PATH names, separated by colons.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from p5lab.errors import UserError

VARIABLE = "P5LAB_PATH"
# The files of each kind: in the checkout, and in a directory of P5LAB_PATH. If the file has a fixed
# name, the name of its directory is the name of the machine, guest, workload and so on.
PLACES = {
    "machine": ("configs/machines/*.toml", "machines/*.toml"),
    "experiment": ("configs/experiments/*.toml", "experiments/*.toml"),
    "guest": ("guest-images/*/guest.toml", "guests/*/guest.toml"),
    "workload": ("workloads/*/*/workload.toml", "workloads/*/workload.toml"),
    "notebook": ("notebooks/*.ipynb", "notebooks/*.ipynb"),
}


@dataclass(frozen=True)
class Lab:
    """A checkout and its directory of results (`results_in`: somewhere else, for tests).

    path: directories with more machines, guests, workloads, experiments and notebooks.
    """

    root: Path
    results_in: Path | None = None
    path: tuple[Path, ...] = ()

    @classmethod
    def here(cls) -> "Lab":
        """The checkout that contains this file, with the directories of P5LAB_PATH."""
        given = os.environ.get(VARIABLE, "").split(os.pathsep)
        directories = tuple(Path(name).absolute() for name in given if name)
        return cls(Path(__file__).resolve().parents[2], path=directories)

    def files(self, kind: str) -> dict[str, Path]:
        """The files of a kind (a key of PLACES) by name, in alphabetical order.

        Raises UserError if a directory of P5LAB_PATH does not exist, or if a name stands twice.
        """
        ours, others = PLACES[kind]
        found: dict[str, Path] = {}
        for directory in (self.root, *self.path):
            if not directory.is_dir():
                raise UserError(f"{VARIABLE}: {directory}: expected a directory; there is none")
            pattern = ours if directory == self.root else others
            for file in directory.glob(pattern):
                name = file.stem if pattern.partition("*")[2].startswith(".") else file.parent.name
                if name in found:
                    raise UserError(
                        f"{kind} {name!r} stands twice: {found[name]} and {file}; rename one of"
                        " them"
                    )
                found[name] = file
        return dict(sorted(found.items()))

    def is_outside(self, file: Path) -> bool:
        """Whether a file of `files` belongs to a directory of P5LAB_PATH."""
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
        """The file of the claims of papers, with their numbers."""
        return self.root / "configs/claims.toml"

    @property
    def guests(self) -> Path:
        """The directory of the checkout's guests."""
        return self.root / "guest-images"

    @property
    def capabilities(self) -> Path:
        """The file of all capabilities: what workloads can need and guests can have."""
        return self.root / "workloads/capabilities.toml"

    @property
    def parameters(self) -> Path:
        """The file of the parameters that several workloads share."""
        return self.root / "workloads/parameters.toml"

    @property
    def results(self) -> Path:
        """The directory of all results: EXPERIMENT/RUN below it."""
        return self.results_in or self.root / "results"

    @property
    def engine(self) -> Path:
        """The engine for guests of 32 bits, as the build makes it."""
        return self.root / "build/engine/p5bochs"

    @property
    def engine64(self) -> Path:
        """The engine for guests of x86-64."""
        return self.root / "build/engine/p5bochs64"

    def record_of(self, engine: Path) -> Path:
        """The record that the build wrote about one of these engines."""
        return engine.with_name(f"{engine.name.replace('p5bochs', 'engine')}.json")

    @property
    def bochsrc(self) -> Path:
        """The template of Bochs's configuration."""
        return self.root / "engine/bochs/bochsrc.in"

    def timing(self, table: str) -> Path:
        """The table of instruction clocks for a value of cpu.timing. Raises KeyError for an unknown
        one."""
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
    def formatted_disk(self) -> Path:
        """The content of a machine's first SCSI disk at the start of a run."""
        return self.root / "build/disks/formatted.p5disk"

    @property
    def multiboot(self) -> Path:
        """The code that enters a multiboot kernel."""
        return self.root / "build/bootrom/multiboot.bin"

    def rootfs(self, guest: str) -> Path:
        """The root file system of a guest that is a distribution. Its record stands beside it."""
        return self.root / "build/images" / guest / "rootfs.tar"

    def program(self, programs: str, workload: str) -> Path:
        """The program of a workload, built for the guests with this value of `programs`."""
        return self.root / "build/workloads" / programs / workload

    def short(self, path: Path) -> str:
        """A path for messages and records: relative to the checkout if it lies inside."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)
