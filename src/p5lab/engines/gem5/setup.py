# SPDX-License-Identifier: MIT
"""What one run is given: a JSON file, so that a run can be repeated from its m5out alone."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from p5lab.engines.gem5.parameters import Values
from p5lab.engines.gem5.versions import CPUS
from p5lab.errors import UserError

SCHEMA_VERSION = 1
EXTRAS = ("auto", "on", "off")


@dataclass(frozen=True)
class Setup:
    """files: kernel (ELF64), job, and of initramfs and disk what there is. The job's first line is
    what the guest's init is asked to do; a program that it is given follows."""

    machine: Values
    files: Mapping[str, str]
    command_line: str
    cpu: str
    extras: str
    limit_seconds: int  # modelled, after the ready marker
    checkpoints: str  # the directory that keeps them

    def path(self, role: str) -> Path:
        return Path(self.files[role])

    def write(self, path: Path) -> None:
        path.write_text(self.text(), encoding="utf-8")

    def text(self) -> str:
        return json.dumps({"schema_version": SCHEMA_VERSION, **asdict(self)}, indent=1) + "\n"

    @classmethod
    def read(cls, path: Path) -> "Setup":
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
        """UserError when a file is not there or a word is unknown."""
        for role, name in self.files.items():
            if not Path(name).is_file():
                raise UserError(f"missing {role}: {name}")
        if self.cpu not in CPUS:
            raise UserError(f"cpu: expected one of {', '.join(CPUS)}; found {self.cpu!r}")
        if self.extras not in EXTRAS:
            raise UserError(f"extras: expected one of {', '.join(EXTRAS)}; found {self.extras!r}")
