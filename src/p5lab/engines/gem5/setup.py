# SPDX-License-Identifier: MIT
"""The setup of one run: a JSON file. gem5's directory m5out contains a copy, so the rest of the run
directory is not needed to repeat the run."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from p5lab.engines.gem5.parameters import Values
from p5lab.engines.gem5.versions import CHIP, CPUS
from p5lab.errors import UserError

SCHEMA_VERSION = 1
EXTRAS = ("auto", "on", "off")


@dataclass(frozen=True)
class Setup:
    """`files`: kernel (ELF64) and job, and also initramfs and disk if the guest has these files.
    The first line of the job is the command for the guest's init. A program may follow this
    line."""

    machine: Values
    files: Mapping[str, str]
    command_line: str
    cpu: str
    extras: str
    limit_seconds: int  # modelled, after the ready marker
    checkpoints: str  # the directory of all checkpoints
    # Of the CPU model p5: whether instructions have nominal clocks, and not one clock each
    # (docs/concepts/nominal-clocks.md); whether the chip counts the components of the CPI stack.
    nominal: bool = False
    cpi: bool = False

    def path(self, role: str) -> Path:
        """The path of the file that has this role, such as `kernel`. Raises KeyError if no file has
        the role."""
        return Path(self.files[role])

    @property
    def boots_on_chip(self) -> bool:
        """Whether P5CPU boots the guest; the atomic CPU knows gem5's own markers only."""
        return self.cpu == CHIP

    def write(self, path: Path) -> None:
        """Writes the setup to a file."""
        path.write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        """The setup as JSON."""
        return json.dumps({"schema_version": SCHEMA_VERSION, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def read(cls, path: Path) -> "Setup":
        """The setup in a file. Raises UserError for a file that cannot be read or contains no
        setup."""
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            version = data.pop("schema_version")
            if version != SCHEMA_VERSION:
                raise UserError(
                    f"{path}: schema_version: expected {SCHEMA_VERSION}, found {version}"
                )
            return cls(**data)
        except (OSError, UnicodeDecodeError) as error:
            raise UserError(
                f"cannot read {path}: {getattr(error, 'strerror', None) or error}"
            ) from None
        except (ValueError, TypeError, AttributeError, KeyError) as error:
            raise UserError(f"{path}: not a setup: {error}") from None

    def check(self) -> None:
        """Raises UserError for a file that is missing and for an unknown word."""
        for role, name in self.files.items():
            if not Path(name).is_file():
                raise UserError(f"missing {role}: {name}")
        if self.cpu not in CPUS:
            raise UserError(f"cpu: expected one of {', '.join(CPUS)}; found {self.cpu!r}")
        if self.extras not in EXTRAS:
            raise UserError(f"extras: expected one of {', '.join(EXTRAS)}; found {self.extras!r}")
