#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Makes requirements/*.lock: exact versions and digests of the Python packages of each group.

pyproject.toml lists the packages that our code uses: `dependencies` are the group base, and each
entry of `optional-dependencies` is a further group. A lock file lists these packages and their
dependencies. The lock file of another group leaves out the packages of base, because base is
always installed. All groups agree on the versions. A package that is locked already keeps its
version and its digests, unless pyproject.toml asks for another version.

pip finds the versions and the files for each Python that p5lab supports, and installs nothing. Run
this script with `.venv/bin/python` after `./p5lab test` has installed the package `packaging`.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
import tomllib
from dataclasses import dataclass, field
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).resolve().parents[1]
PLACE = ROOT / "requirements"
BASE = "base"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")  # the oldest first, because it decides the versions
HEAD = """\
# Exact versions and digests of the Python packages of the group {group}. tools/lock.py makes this
# file from pyproject.toml. Do not edit it.
"""
ENTRY = re.compile(
    r"^([A-Za-z0-9._-]+)==(\S+) \\\n((?:    --hash=sha256:[0-9a-f]{64}(?: \\)?\n)+)", re.M
)
# jsonschema checks addresses with rfc3987-syntax if that is installed. Nothing here needs this, and
# rfc3987-syntax takes a second to load in each process that imports jsonschema, so with Altair.
LEFT_OUT = {"rfc3987-syntax"}
DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass
class Package:
    """A version of a package. `digests`: the SHA-256 of its files. `needs`: what the package
    requires, by Python."""

    version: str
    digests: set[str] = field(default_factory=set)
    needs: dict[str, list[str]] = field(default_factory=dict)

    def entry(self, name: str) -> str:
        """The entry of a lock file."""
        digests = [f"    --hash=sha256:{digest}" for digest in sorted(self.digests)]
        return " \\\n".join([f"{name}=={self.version}", *digests]) + "\n"


def groups() -> dict[str, list[str]]:
    """The packages of pyproject.toml by group."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {BASE: project["dependencies"], **project["optional-dependencies"]}


def locked() -> dict[str, Package]:
    """The packages in the lock files of now."""
    return {
        name: Package(version, set(DIGEST.findall(digests)))
        for path in sorted(PLACE.glob("*.lock"))
        for name, version, digests in ENTRY.findall(path.read_text(encoding="utf-8"))
    }


def report(python: str, wanted: list[str], versions: dict[str, str]) -> list[dict]:
    """The packages that pip would install for a Python. `versions`: versions that pip must use.
    Raises CalledProcessError if there is no solution."""
    with tempfile.TemporaryDirectory() as place:
        constraints, output = Path(place, "constraints.txt"), Path(place, "report.json")
        constraints.write_text(
            "".join(f"{name}=={version}\n" for name, version in versions.items())
        )
        options = ("--quiet", "--dry-run", "--ignore-installed", "--only-binary=:all:")
        files = ("--target", place, "--constraint", constraints, "--report", output)
        command = (sys.executable, "-m", "pip", "install", *options, *files)
        subprocess.run([*command, "--python-version", python, *wanted], check=True)
        return list(json.loads(output.read_text())["install"])


def resolve(wanted: list[str], known: dict[str, Package]) -> dict[str, Package]:
    """All packages for all Pythons."""
    asked = {canonicalize_name(Requirement(line).name) for line in wanted}
    versions = {name: package.version for name, package in known.items() if name not in asked}
    packages: dict[str, Package] = {}
    for python in PYTHONS:
        for download in report(python, wanted, versions):
            metadata = download["metadata"]
            name = canonicalize_name(metadata["name"])
            package = packages.setdefault(name, Package(metadata["version"]))
            package.digests.add(download["download_info"]["archive_info"]["hashes"]["sha256"])
            package.needs[python] = metadata.get("requires_dist", [])
            versions[name] = package.version
    for name, package in packages.items():
        if name in known and known[name].version == package.version:
            package.digests |= known[name].digests
    return packages


def closure(wanted: list[str], packages: dict[str, Package]) -> set[str]:
    """The names of some packages and of all packages that these packages require."""
    names: set[str] = set()
    for python in PYTHONS:
        environment = {"python_version": python, "python_full_version": f"{python}.0"}
        waiting = [(Requirement(line), "") for line in wanted]
        seen: set[tuple[str, str]] = set()
        while waiting:
            need, extra = waiting.pop()
            if need.marker and not need.marker.evaluate({**environment, "extra": extra}):
                continue
            name = canonicalize_name(need.name)
            if name in LEFT_OUT:
                continue
            names.add(name)
            for extra in {"", *need.extras}:
                if (name, extra) not in seen:
                    seen.add((name, extra))
                    lines = packages[name].needs.get(python, [])
                    waiting += [(Requirement(line), extra) for line in lines]
    return names


def main() -> int:
    """Writes the lock files, and removes the lock files of unknown groups."""
    wanted = groups()
    packages = resolve([line for lines in wanted.values() for line in lines], locked())
    PLACE.mkdir(exist_ok=True)
    for path in PLACE.glob("*.lock"):
        if path.stem not in wanted:
            path.unlink()
    base = closure(wanted[BASE], packages)
    for group, lines in wanted.items():
        names = base if group == BASE else closure(lines, packages) - base
        text = HEAD.format(group=group) + "".join(
            packages[name].entry(name) for name in sorted(names)
        )
        (PLACE / f"{group}.lock").write_text(text, encoding="utf-8")
        print(f"requirements/{group}.lock: {len(names)} packages")
    return 0


if __name__ == "__main__":
    sys.exit(main())
