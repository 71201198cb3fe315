# SPDX-License-Identifier: MIT
"""Reads the apt configuration of this host: the archives, and the settings for downloads.

Only the standard library is used, because the build graph imports this module.
"""

import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

DEBIAN_SUITES = frozenset(
    "bullseye bookworm trixie forky duke sid oldoldstable oldstable stable testing unstable".split()
)
"""If an entry of the host's apt configuration has one of these suites, the entry belongs to the
Debian archive."""
UBUNTU_SUITES = frozenset("focal jammy noble plucky questing resolute".split())
SUITES = {"debian": DEBIAN_SUITES, "ubuntu": UBUNTU_SUITES}

KEPT_OPTIONS = ("signed-by", "trusted", "check-valid-until", "allow-insecure")
"""Options that our own source list copies from the host's entry."""


@dataclass(frozen=True)
class Archive:
    """One entry of the host's apt configuration: an archive, and the options that decide whether
    apt trusts it."""

    uri: str
    security: bool
    options: tuple[tuple[str, str], ...] = ()


def _expand_mirror_list(uri: str) -> str:
    """Returns the first mirror of a `mirror+file:` list. Returns any other URI unchanged."""
    if not uri.startswith("mirror+file:"):
        return uri
    lines = Path(uri.removeprefix("mirror+file:")).read_text().splitlines()
    mirrors = [line.split()[0] for line in lines if line.strip() and not line.startswith("#")]
    return mirrors[0] if mirrors else uri


def _archives(
    uris: list[str],
    suites: list[str],
    components: list[str],
    options: Mapping[str, str],
    known: frozenset[str],
) -> Iterator[Archive]:
    if "main" not in components:
        return
    for suite in suites:
        base, _, rest = suite.partition("/") if "/" in suite else suite.partition("-")
        if base not in known or rest not in ("", "security", "updates"):
            continue
        security = rest == "security" or suite.endswith("/updates")
        kept = tuple((key, options[key]) for key in KEPT_OPTIONS if key in options)
        for uri in uris:
            if not uri.startswith("cdrom:"):
                yield Archive(_expand_mirror_list(uri).rstrip("/"), security, kept)


def _one_line_entries(text: str, known: frozenset[str]) -> Iterator[Archive]:
    """The entries of a sources.list(5) file: `deb [option=value ...] URI SUITE COMPONENT...`."""
    for line in text.splitlines():
        match = re.fullmatch(
            r"\s*deb\s+(?:\[([^]]*)\]\s+)?(\S+)\s+(\S+)\s+([^#]+?)\s*(?:#.*)?", line
        )
        if match:
            pairs = (option.partition("=") for option in (match[1] or "").split())
            options = {key.lower(): value for key, _, value in pairs}
            yield from _archives([match[2]], [match[3]], match[4].split(), options, known)


def _deb822_entries(text: str, known: frozenset[str]) -> Iterator[Archive]:
    """The entries of a deb822 `.sources` file. Each paragraph contains lines `Field: value`.
    Indented lines continue a value."""
    for paragraph in re.split(r"\n\s*\n", text):
        fields: dict[str, str] = {}
        key = ""
        for line in paragraph.splitlines():
            if line.startswith("#"):
                continue
            if line[:1].isspace() and key:
                fields[key] += "\n" + line.strip()
            elif ":" in line:
                key, _, value = line.partition(":")
                key = key.strip().lower()
                fields[key] = value.strip()
        enabled = fields.get("enabled", "yes").lower() not in ("no", "false", "0")
        if enabled and "deb" in fields.get("types", "").split():
            yield from _archives(
                fields.get("uris", "").split(),
                fields.get("suites", "").split(),
                fields.get("components", "").split(),
                fields,
                known,
            )


def host_archives(etc: Path, known: frozenset[str] = DEBIAN_SUITES) -> list[Archive]:
    """Reads an apt configuration directory. Returns the archives whose suite is in `known`. Each
    archive is listed once, in the order of the configuration."""
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    archives: dict[Archive, None] = {}
    for path in files:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        text = path.read_text(errors="replace")
        entries = _one_line_entries if path.suffix == ".list" else _deb822_entries
        archives |= dict.fromkeys(entries(text, known))
    return list(archives)


def host_settings() -> list[str]:
    """The host's settings of apt for downloads, as lines of apt.conf(5)."""
    if shutil.which("apt-config") is None:
        return []
    return subprocess.run(
        ["apt-config", "dump", "--format", '%F "%v";%n', "Acquire"],
        capture_output=True,
        text=True,
        check=False,
    ).stdout.splitlines()
