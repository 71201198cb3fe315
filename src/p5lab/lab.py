# SPDX-License-Identifier: MIT
"""Where things are: one place for every path of the repository that the Python side uses."""

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Lab:
    """A checkout, and where its results go (`results_in`: not below the checkout, for tests)."""

    root: Path
    results_in: Path | None = None

    @classmethod
    def here(cls) -> "Lab":
        return cls(Path(__file__).resolve().parents[2])

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
    def workloads(self) -> Path:
        return self.root / "workloads/workloads.toml"

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
