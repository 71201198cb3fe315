# SPDX-License-Identifier: MIT
"""Downloads the files that `sources.toml` names, and verifies each by its digest.

The files come from the Debian mirror in the host's own apt configuration. apt's own tools download
the files with a private configuration. The source list, state and cache of this configuration are
below the p5lab cache. Downloads therefore do not need root, and the host's package lists do not
change. `$P5LAB_DISTDIR`, a directory of source files, takes precedence over any download. This
module uses only the standard library, because the build graph imports it.
"""

import argparse
import contextlib
import fcntl
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from p5lab.describe import tomlfile
from p5lab.errors import STATUS_FAILED, UserError, disk_error, status_of, unknown
from p5lab.host.files import read_json, sha256_of

APT_HELPER = Path("/usr/lib/apt/apt-helper")
PROGRESS_SECONDS = 5.0
INDEX_BYTES = 64 << 20
"""Disk space for an update of the package index (measured: 19 MB remain afterwards)."""

DEBIAN_SUITES = frozenset(
    "bullseye bookworm trixie forky duke sid oldoldstable oldstable stable testing unstable".split()
)
"""An entry of the host's apt configuration with one of these suites is the Debian archive."""
UBUNTU_SUITES = frozenset("focal jammy noble plucky questing resolute".split())
SUITES = {"debian": DEBIAN_SUITES, "ubuntu": UBUNTU_SUITES}

KEPT_OPTIONS = ("signed-by", "trusted", "check-valid-until", "allow-insecure")
"""Options that our own source list copies from the host's entry."""


class FetchError(UserError):
    """A source is not available. The message names the source and the remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=STATUS_FAILED)


@dataclass(frozen=True)
class Pinned:
    """A file of the Debian archive with known bytes. `path` is relative to the mirror."""

    name: str
    version: str
    path: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Moving:
    """A Debian package with a range of accepted versions. The package index contains the digest of
    each version."""

    name: str
    package: str
    suite: str
    first: str
    below: str
    size: int
    tested: Mapping[str, str]

    def accepts(self, version: str) -> bool:
        """Whether a version lies in the range."""
        return version_key(self.first) <= version_key(version) < version_key(self.below)

    @property
    def range(self) -> str:
        """The range of versions as a text for messages."""
        return f">= {self.first} and < {self.below}"


Source = Pinned | Moving


@dataclass(frozen=True)
class Resolved:
    """One exact file. The fields name no host, path or date, so they can be part of a build key."""

    name: str
    version: str
    file: str
    size: int
    sha256: str


@dataclass(frozen=True)
class Archive:
    """One entry of the host's apt configuration: an archive, and the options that decide whether
    apt trusts it."""

    uri: str
    security: bool
    options: tuple[tuple[str, str], ...] = ()


def version_key(version: str) -> tuple[int, ...]:
    """The numbers of a version: `6.1.192-2` gives (6, 1, 192, 2). The versions of one Debian
    package have the same order as these numbers."""
    return tuple(int(number) for number in re.findall(r"\d+", version))


def read_sources(path: Path) -> dict[str, Source]:
    """The entries of sources.toml by name. Raises UserError for a wrong entry."""
    table = tomlfile.load(path, schema_version=1)
    return {name: _source(name, table.table(name)) for name in table.data}


def _source(name: str, entry: tomlfile.Table) -> Source:
    size = entry.number("size")
    if size < 1:
        raise UserError(f"{entry.where}: size: expected at least 1, found {size}")
    if "path" in entry.data:
        sha256 = entry.text("sha256")
        if not re.fullmatch(r"[0-9a-f]{64}", sha256):
            raise UserError(f"{entry.where}: sha256: expected 64 hexadecimal digits")
        place = entry.text("path")
        if place.startswith("/") or ".." in place.split("/"):
            raise UserError(
                f"{entry.where}: path: expected a path below the mirror, found {place!r}"
            )
        return Pinned(name, entry.text("version"), place, size, sha256)
    tested = entry.table("tested", {})
    return Moving(
        name,
        entry.text("package"),
        entry.text("suite"),
        entry.text("from"),
        entry.text("below"),
        size,
        {version: tested.text(version) for version in tested.data},
    )


def cache_directory() -> Path:
    """The directory of downloads and build products, which all checkouts share."""
    chosen = os.environ.get("P5LAB_CACHE")
    return Path(chosen).absolute() if chosen else Path.home() / ".cache/p5lab"


# --- the host's apt configuration -----------------------------------------------------------


def _expand_mirror_list(uri: str) -> str:
    """The first mirror of a `mirror+file:` list; any other URI unchanged."""
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
    """The archives in an apt configuration directory that have one of the `known` suites. Each
    archive is listed once, in the order of the configuration."""
    files = [etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))]
    found: dict[Archive, None] = {}
    for path in files:
        if not path.is_file() or path.suffix not in (".list", ".sources"):
            continue
        text = path.read_text(errors="replace")
        entries = _one_line_entries if path.suffix == ".list" else _deb822_entries
        found |= dict.fromkeys(entries(text, known))
    return list(found)


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


# --- fetching -------------------------------------------------------------------------------


@dataclass
class Fetcher:
    """Finds and downloads sources. Tests use their own directories and their own mirror."""

    sources: Mapping[str, Source]
    cache: Path = field(default_factory=cache_directory)
    distdir: Path | None = None
    etc: Path = Path("/etc/apt")
    _holds_lock: bool = field(default=False, init=False, repr=False)

    @classmethod
    def here(cls, root: Path) -> "Fetcher":
        """The fetcher of a checkout, with the directory of $P5LAB_DISTDIR."""
        distdir = os.environ.get("P5LAB_DISTDIR")
        return cls(
            read_sources(root / "sources.toml"),
            distdir=Path(distdir).absolute() if distdir else None,
        )

    def resolve(self, name: str) -> Resolved:
        """The exact file of a source. For a package with a range of versions, it may download the
        package index. Raises UserError for an unknown name, and FetchError if no accepted version
        is available."""
        if name not in self.sources:
            raise unknown("source", name, self.sources, where="sources.toml")
        source = self.sources[name]
        if isinstance(source, Pinned):
            return Resolved(
                name, source.version, Path(source.path).name, source.size, source.sha256
            )
        return self.local(source) or self._newest_on_mirror(source)

    def local(self, source: Moving) -> Resolved | None:
        """The newest accepted file on this host, which needs no download. None without a file."""
        return self._newest_local(source, self.distdir) or self._newest_local(
            source, self.cache / "dist"
        )

    def mirrors_reached(self, seconds: float = 20) -> dict[str, str]:
        """Tests the mirrors that a download would try. The result by address is an empty text if
        the mirror answers, or else the reason. `seconds` is the time limit for each mirror."""
        if not APT_HELPER.exists():
            return {"apt": "this host has no apt; set P5LAB_DISTDIR to a directory of source files"}
        suites = {source.suite for source in self.sources.values() if isinstance(source, Moving)}
        suite = min(suites, default="stable")
        return {
            archive.uri: self._try(f"{archive.uri}/dists/{suite}/Release", seconds)
            for archive in self._mirrors(security=False)
        }

    def _try(self, uri: str, seconds: float) -> str:
        """Downloads one file and deletes it. Returns an empty text, or the reason of the
        failure."""
        uri = re.sub(r"^file:", "copy:", uri)
        with tempfile.TemporaryDirectory() as directory:
            try:
                done = subprocess.run(
                    [APT_HELPER, "download-file", uri, Path(directory) / "file"],
                    env=self._environment(),
                    stdin=subprocess.DEVNULL,
                    capture_output=True,
                    text=True,
                    timeout=seconds,
                )
            except subprocess.TimeoutExpired:
                return f"no answer within {seconds:g} s"
        errors = re.findall(r"^E: (.*)", done.stdout + done.stderr, re.M)
        return "" if done.returncode == 0 else errors[0] if errors else "apt-helper failed"

    def obtain(self, wanted: Resolved) -> Path:
        """The path of the verified file: from $P5LAB_DISTDIR, from the cache, or downloaded. Raises
        FetchError if the file is not available or has a wrong digest."""
        if self.distdir and (local := self.distdir / wanted.file).is_file():
            self._check_digest(local, wanted, "in P5LAB_DISTDIR")
            return local
        kept = self.cache / "dist" / wanted.sha256 / wanted.file
        if kept.is_file() and sha256_of(kept) == wanted.sha256:
            return kept
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            with self._lock(f"another p5lab that downloads; {wanted.file} comes next"):
                # The other process may have downloaded the file in the meantime.
                if not (kept.is_file() and sha256_of(kept) == wanted.sha256):
                    self._download(wanted, kept)
        except OSError as error:
            raise disk_error(error, kept) from error
        return kept

    def _newest_local(self, source: Moving, directory: Path | None) -> Resolved | None:
        """The newest accepted version among the files of a directory and one level below."""
        if directory is None or not directory.is_dir():
            return None
        pattern = f"{source.package}_*.deb"
        found = [*directory.glob(pattern), *directory.glob(f"*/{pattern}")]
        versions = {path.name.split("_")[1]: path for path in found}
        accepted = [version for version in versions if source.accepts(version)]
        if not accepted:
            if versions and directory == self.distdir:
                raise FetchError(
                    f"P5LAB_DISTDIR has {source.package} {', '.join(sorted(versions))}; "
                    f"expected a version {source.range}"
                )
            return None
        version = max(accepted, key=version_key)
        path = versions[version]
        digest = sha256_of(path)
        resolved = Resolved(source.name, version, path.name, path.stat().st_size, digest)
        if source.tested.get(version, digest) != digest:
            raise _mismatch(path.name, str(directory), source.tested[version], digest)
        return resolved

    def _newest_on_mirror(self, source: Moving) -> Resolved:
        reason = self._update_index(source)
        shown = self._apt("apt-cache", "show", source.package).stdout
        offered = {}
        for stanza in shown.split("\n\n"):
            fields = dict(re.findall(r"^(Version|Filename|Size|SHA256): (\S+)$", stanza, re.M))
            if len(fields) == 4:
                offered[fields["Version"]] = fields
        if not offered:
            raise FetchError(
                f"{source.package} is not on the mirror of this host's apt configuration "
                f"(suite {source.suite}){reason}; set P5LAB_DISTDIR to a directory that contains it"
            )
        accepted = [version for version in offered if source.accepts(version)]
        if not accepted:
            raise FetchError(
                f"{source.package}: the mirror has {', '.join(sorted(offered))}; "
                f"expected a version {source.range} (sources.toml)"
            )
        newest = offered[max(accepted, key=version_key)]
        return Resolved(
            source.name,
            newest["Version"],
            Path(newest["Filename"]).name,
            int(newest["Size"]),
            newest["SHA256"],
        )

    def _uris(self, wanted: Resolved) -> list[str]:
        """The addresses of a file, in the order in which a download tries them."""
        source = self.sources[wanted.name]
        if isinstance(source, Pinned):
            return [f"{archive.uri}/{source.path}" for archive in self._mirrors(security=False)]
        for update in (False, True):
            if update:
                self._update_index(source)
            listed = self._apt(
                "apt-get", "download", "--print-uris", f"{source.package}={wanted.version}"
            )
            uris = re.findall(r"^'([^']+)'", listed.stdout, re.M)
            if uris:
                return uris
        raise FetchError(
            f"{source.package} {wanted.version} is not on the mirror any more; remove "
            f"build/sources/{wanted.name}.json to take the current version"
        )

    def _download(self, wanted: Resolved, kept: Path) -> None:
        if not APT_HELPER.exists():
            raise FetchError(
                f"cannot download {wanted.file}: this host has no apt; "
                "set P5LAB_DISTDIR to a directory that contains it"
            )
        uris = self._uris(wanted)
        _check_space(kept.parent, wanted.size + (16 << 20), wanted.file)
        reasons = []
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=kept.parent) as directory:
            partial = Path(directory) / wanted.file
            for uri in uris:
                reason = self._download_one(uri, wanted, partial)
                if not reason:
                    partial.replace(kept)
                    return
                reasons.append(reason)
        raise FetchError(f"cannot download {wanted.file}: {'; '.join(reasons)}")

    def _download_one(self, uri: str, wanted: Resolved, partial: Path) -> str:
        """Downloads one file. Returns an empty text, or the reason of the failure."""
        # With `file:`, apt only links to the local file. With `copy:`, apt makes a copy.
        uri = re.sub(r"^file:", "copy:", uri)
        _say(f"downloading {wanted.file} ({_megabytes(wanted.size)} MB)")
        process = subprocess.Popen(
            [APT_HELPER, "download-file", uri, partial, f"SHA256:{wanted.sha256}"],
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        reported = time.monotonic()
        while True:
            try:
                output, _ = process.communicate(timeout=0.2)
                break
            except subprocess.TimeoutExpired:
                if time.monotonic() - reported > PROGRESS_SECONDS:
                    reported = time.monotonic()
                    here = sum(path.stat().st_size for path in partial.parent.glob("*"))
                    _say(f"  {_megabytes(here)} of {_megabytes(wanted.size)} MB")
        if process.returncode == 0 and partial.is_file():
            digest = sha256_of(partial)
            return "" if digest == wanted.sha256 else str(_mismatch(uri, "", wanted.sha256, digest))
        if "Hash Sum mismatch" in output or "unexpected size" in output:
            return f"digest mismatch: {uri} is not the file with SHA-256 {wanted.sha256}"
        if "No space left" in output:
            return f"disk full: {partial.parent.parent}"
        errors = re.findall(r"^E: (.*)", output, re.M)
        return errors[0] if errors else f"apt-helper ended with status {process.returncode}"

    def _check_digest(self, path: Path, wanted: Resolved, where: str) -> None:
        digest = sha256_of(path)
        if digest != wanted.sha256:
            raise _mismatch(path.name, where, wanted.sha256, digest)

    def _mirrors(self, *, security: bool) -> list[Archive]:
        if override := os.environ.get("P5LAB_MIRROR"):
            return [] if security else [Archive(override.rstrip("/"), security=False)]
        found = [entry for entry in host_archives(self.etc) if entry.security == security]
        if not found and not security:
            raise FetchError(
                f"no Debian mirror in {self.etc}: set P5LAB_MIRROR to the address of a mirror, "
                "or P5LAB_DISTDIR to a directory of the files that sources.toml names"
            )
        return found

    def archives_of(self, distribution: str) -> list[Archive]:
        """The archives of a distribution in the host's apt configuration, without security
        updates."""
        if distribution == "debian" and os.environ.get("P5LAB_MIRROR"):
            return self._mirrors(security=False)
        found = host_archives(self.etc, SUITES.get(distribution, frozenset()))
        return [entry for entry in found if not entry.security]

    # --- apt with a private configuration ---

    @property
    def _apt_directory(self) -> Path:
        return self.cache / "apt"

    def _update_index(self, source: Moving) -> str:
        """Updates the package index. Returns an empty text, or apt's complaint.

        A complaint is not always an error, because one of several suites may be missing.
        """
        if shutil.which("apt-get") is None:
            raise FetchError(
                f"cannot look up {source.package}: this host has no apt; "
                "set P5LAB_DISTDIR to a directory that contains it"
            )
        suites = [(entry, source.suite) for entry in self._mirrors(security=False)]
        suites += [(entry, f"{source.suite}-security") for entry in self._mirrors(security=True)]
        directory = self._apt_directory
        try:
            for folder in ("state/lists/partial", "cache/archives/partial"):
                (directory / folder).mkdir(parents=True, exist_ok=True)
            (directory / "state/status").touch()
            lines = [self.source_line(entry, suite) for entry, suite in dict.fromkeys(suites)]
            (directory / "sources.list").write_text("".join(lines))
        except OSError as error:
            raise disk_error(error, directory) from error
        # On a full disk, apt itself would wait for ever.
        _check_space(directory, INDEX_BYTES, "the package index")
        _say(f"looking up {source.package} in the mirror's package index")
        with self._lock("another p5lab that reads the package index"):
            updated = self._apt("apt-get", "-q", "update")
        complaint = re.search(r"^(?:E|W): (.*)", updated.stderr, re.M)
        return f": {complaint[1]}" if complaint else ""

    def source_line(self, entry: Archive, suite: str) -> str:
        """An archive in the form of sources.list(5)."""
        options = []
        for key, value in entry.options:
            if key == "signed-by" and "\n" in value:  # the value is a key, not the path of a key
                self._apt_directory.mkdir(parents=True, exist_ok=True)
                key_file = self._apt_directory / f"{hashlib.sha256(value.encode()).hexdigest()}.asc"
                key_file.write_text("\n".join("" if x == "." else x for x in value.split("\n")))
                value = str(key_file)
            options.append(f"{key}={value}")
        bracket = f"[{' '.join(options)}] " if options else ""
        return f"deb {bracket}{entry.uri} {suite} main\n"

    def _environment(self) -> dict[str, str]:
        """The environment in which apt uses our directories, and does not run the host's hooks."""
        directory = self._apt_directory
        directory.mkdir(parents=True, exist_ok=True)
        settings = {
            "Dir::Etc::parts": "/dev/null",
            "Dir::Etc::main": "/dev/null",
            "Dir::Etc::sourcelist": str(directory / "sources.list"),
            "Dir::Etc::sourceparts": "/dev/null",
            "Dir::State": str(directory / "state"),
            "Dir::State::status": str(directory / "state/status"),
            "Dir::Cache": str(directory / "cache"),
            # No binary caches of the index, because they need four times the space of the index,
            # and one second to make.
            "Dir::Cache::pkgcache": "",
            "Dir::Cache::srcpkgcache": "",
            "APT::Sandbox::User": "",
            "Acquire::Languages": "none",
        }
        # The host's settings of proxies, certificates and time-outs still apply.
        kept = [
            line
            for line in host_settings()
            if not line.startswith(("Acquire::IndexTargets", "Acquire::Languages"))
        ]
        lines = kept + [f'{key} "{value}";' for key, value in settings.items()]
        (directory / "apt.conf").write_text("\n".join(lines) + "\n")
        return {**os.environ, "APT_CONFIG": str(directory / "apt.conf"), "LC_ALL": "C.UTF-8"}

    def _apt(self, *command: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            check=False,
        )

    @contextlib.contextmanager
    def _lock(self, what: str) -> Iterator[None]:
        if self._holds_lock:  # a download has the lock and updates the package index first
            yield
            return
        self.cache.mkdir(parents=True, exist_ok=True)
        with (self.cache / "fetch.lock").open("w") as file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                _say(f"waiting for {what}")
                fcntl.flock(file, fcntl.LOCK_EX)
            self._holds_lock = True
            try:
                yield
            finally:
                self._holds_lock = False


def _mismatch(file: str, where: str, expected: str, found: str) -> FetchError:
    place = f" ({where})" if where else ""
    return FetchError(f"digest mismatch: {file}{place} has SHA-256 {found}, expected {expected}")


def _check_space(directory: Path, needed: int, what: str) -> None:
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise FetchError(
            f"disk full: {what} needs {needed >> 20} MB in {directory}, {free >> 20} MB are free"
        )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}" if size < 10_000_000 else f"{size / 1e6:.0f}"


def _say(line: str) -> None:
    """Prints a line of progress, which begins with `fetch:`. The line of an error begins with
    `p5lab:`, so that src/p5lab/host/build.py can distinguish the two kinds of lines."""
    print(f"fetch: {line}", file=sys.stderr, flush=True)


def read_resolved(path: Path) -> Resolved:
    """The record that `resolve --output` wrote. Raises UserError if the record is damaged."""
    try:
        return Resolved(**read_json(path, "remove it, and the next build makes it again"))
    except TypeError:
        raise UserError(f"{path}: not the record of a source; remove it") from None


def main() -> None:
    """The command line of this module, for the build graph: `resolve` and `all`."""
    parser = argparse.ArgumentParser(prog="p5lab.host.fetch", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    resolve = verbs.add_parser("resolve", help="record the exact file of a source")
    resolve.add_argument("name")
    resolve.add_argument("--output", type=Path, required=True)
    verbs.add_parser("all", help="download everything, so that builds need no network")
    options = parser.parse_args()
    fetcher = Fetcher.here(Path(__file__).resolve().parents[3])
    if options.verb == "resolve":
        text = json.dumps(asdict(fetcher.resolve(options.name)), indent=1, sort_keys=True)
        options.output.write_text(text + "\n")
    else:
        for name in fetcher.sources:
            print(fetcher.obtain(fetcher.resolve(name)))


if __name__ == "__main__":
    sys.exit(status_of(main))
