# SPDX-License-Identifier: MIT
"""Where things are: one place for every path of the repository that the Python side uses.

Machines, guests, workloads, experiments and notebooks may also stand outside of the checkout, in
the directories that the environment variable P5LAB_PATH names, separated by colons.
"""

import os
from dataclasses import dataclass
from pathlib import Path

from p5lab.errors import UserError

VARIABLE = "P5LAB_PATH"
# Where the files of each kind stand: in the checkout, and in a directory of P5LAB_PATH. Where the
# file has a fixed name, the directory that holds it has the name of the thing.
PLACES = {
    "machine": ("configs/machines/*.toml", "machines/*.toml"),
    "experiment": ("configs/experiments/*.toml", "experiments/*.toml"),
    "guest": ("guest-images/*/guest.toml", "guests/*/guest.toml"),
    "workload": ("workloads/*/*/workload.toml", "workloads/*/workload.toml"),
    "notebook": ("notebooks/*.ipynb", "notebooks/*.ipynb"),
}


@dataclass(frozen=True)
class Lab:
    """A checkout, and where its results go (`results_in`: not below the checkout, for tests).

    path: directories with more machines, guests, workloads, experiments and notebooks.
    """

    root: Path
    results_in: Path | None = None
    path: tuple[Path, ...] = ()

    @classmethod
    def here(cls) -> "Lab":
        """The checkout that this file is part of, with the directories of P5LAB_PATH."""
        given = os.environ.get(VARIABLE, "").split(os.pathsep)
        directories = tuple(Path(name).absolute() for name in given if name)
        return cls(Path(__file__).resolve().parents[2], path=directories)

    def files(self, kind: str) -> dict[str, Path]:
        """The files that describe all things of a kind (a key of PLACES), by the thing's name in
        alphabetical order.

        UserError: a directory of P5LAB_PATH is not there, or a name stands twice.
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
        return self.root / "configs/machines"

    @property
    def disks(self) -> Path:
        return self.root / "configs/disks"

    @property
    def experiments(self) -> Path:
        return self.root / "configs/experiments"

    @property
    def claims(self) -> Path:
        return self.root / "configs/claims.toml"

    @property
    def guests(self) -> Path:
        return self.root / "guest-images"

    @property
    def capabilities(self) -> Path:
        """What workloads can need and guests can have, with the reasons."""
        return self.root / "workloads/capabilities.toml"

    @property
    def parameters(self) -> Path:
        """Parameters that several workloads have."""
        return self.root / "workloads/parameters.toml"

    @property
    def results(self) -> Path:
        return self.results_in or self.root / "results"

    @property
    def engine(self) -> Path:
        return self.root / "build/engine/p5bochs"

    @property
    def engine64(self) -> Path:
        """The same for guests of x86-64."""
        return self.root / "build/engine/p5bochs64"

    def record_of(self, engine: Path) -> Path:
        """What the build has recorded about one of them."""
        return engine.with_name(f"{engine.name.replace('p5bochs', 'engine')}.json")

    @property
    def bochsrc(self) -> Path:
        return self.root / "engine/bochs/bochsrc.in"

    def timing(self, table: str) -> Path:
        """Instruction clocks by the name that cpu.timing has for them."""
        return self.root / {"p54c": "engine/p5/timing.csv"}[table]

    @property
    def bios(self) -> Path:
        return self.root / "build/engine/bios/BIOS-bochs-latest"

    @property
    def vgabios(self) -> Path:
        return self.root / "build/engine/bios/vgabios.bin"

    @property
    def bootrom(self) -> Path:
        return self.root / "build/bootrom/p5boot.rom"

    @property
    def formatted_disk(self) -> Path:
        """What the first SCSI disk of a machine holds."""
        return self.root / "build/disks/formatted.p5disk"

    @property
    def multiboot(self) -> Path:
        """The last step of a multiboot loader."""
        return self.root / "build/bootrom/multiboot.bin"

    def rootfs(self, guest: str) -> Path:
        """The root file system of a guest that is a distribution; its record is beside it."""
        return self.root / "build/images" / guest / "rootfs.tar"

    def program(self, programs: str, workload: str) -> Path:
        """A workload as built for the guests whose `programs` says so."""
        return self.root / "build/workloads" / programs / workload

    def short(self, path: Path) -> str:
        """A path for messages and records: relative to the checkout where it is inside."""
        return str(path.relative_to(self.root)) if path.is_relative_to(self.root) else str(path)
