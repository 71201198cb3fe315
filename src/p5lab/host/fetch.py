# SPDX-License-Identifier: MIT
"""Downloads the files that `sources.toml` lists, and verifies the digest of each file.

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
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from p5lab.errors import STATUS_FAILED, UserError, disk_error, status_of, unknown
from p5lab.files import read_json, sha256_of
from p5lab.host.apt import SUITES, Archive, host_archives, host_settings
from p5lab.host.sources import Moving, Pinned, Resolved, Source, read_sources, version_key
from p5lab.lab import cache_directory

APT_HELPER = Path("/usr/lib/apt/apt-helper")
PROGRESS_SECONDS = 5.0
RECORDS = "build/sources/"
INDEX_BYTES = 64 << 20
"""Disk space for an update of the package index (measured: 19 MB remain afterwards)."""


class FetchError(UserError):
    """A source is not available. The message names the source and the remedy."""

    def __init__(self, message: str) -> None:
        super().__init__(message, status=STATUS_FAILED)


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
        """Determines which file is used for a source. If the source is a package with a range of
        versions, this function may download the package index. Raises UserError for an unknown
        name, and FetchError if no accepted version is available."""
        if name not in self.sources:
            raise unknown("source", name, self.sources, where="sources.toml")
        source = self.sources[name]
        if isinstance(source, Pinned):
            return Resolved(
                name, source.version, Path(source.path).name, source.size, source.sha256
            )
        return self.local(source) or self._newest_on_mirror(source)

    def local(self, source: Moving) -> Resolved | None:
        """Returns the newest accepted file that is already on this host, or None if there is no
        such file."""
        return self._newest_local(source, self.distdir) or self._newest_local(
            source, self.cache / "dist"
        )

    def mirrors_reached(self, seconds: float = 20) -> dict[str, str]:
        """Tests the mirrors that a download would try. Returns a text for each address: an empty
        text if the mirror answers, or else the reason of the failure. `seconds` is the time limit
        for each mirror."""
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
                file = f"{directory}/file"
                done = self._apt(str(APT_HELPER), "download-file", uri, file, timeout=seconds)
            except subprocess.TimeoutExpired:
                return f"no answer within {seconds:g} s"
        errors = re.findall(r"^E: (.*)", done.stdout + done.stderr, re.M)
        return "" if done.returncode == 0 else errors[0] if errors else "apt-helper failed"

    def obtain(self, wanted: Resolved) -> Path:
        """Returns the path of the verified file. The file comes from $P5LAB_DISTDIR, from the cache
        or from a download. Raises FetchError if the file is not available or has a wrong digest."""
        if self.distdir and (local := self.distdir / wanted.file).is_file():
            if (digest := sha256_of(local)) != wanted.sha256:
                raise _mismatch(local.name, "in P5LAB_DISTDIR", wanted.sha256, digest)
            return local
        kept = self._kept(wanted)
        if kept.is_file() and sha256_of(kept) == wanted.sha256:
            return kept
        try:
            kept.parent.mkdir(parents=True, exist_ok=True)
            with self._lock(f"another p5lab that downloads; {wanted.file} comes next"):
                # Another process may have downloaded the file while this process waited for the
                # lock.
                if not (kept.is_file() and sha256_of(kept) == wanted.sha256):
                    self._download(wanted, kept)
        except OSError as error:
            raise disk_error(error, kept) from error
        return kept

    def is_here(self, wanted: Resolved) -> bool:
        """Whether the file is in $P5LAB_DISTDIR or in the cache, so that it needs no download."""
        local = self.distdir and (self.distdir / wanted.file).is_file()
        return bool(local) or self._kept(wanted).is_file()

    def _kept(self, wanted: Resolved) -> Path:
        return self.cache / "dist" / wanted.sha256 / wanted.file

    def _newest_local(self, source: Moving, directory: Path | None) -> Resolved | None:
        """Returns the newest accepted version among the files in a directory and in its direct
        subdirectories."""
        if directory is None or not directory.is_dir():
            return None
        pattern = f"{source.package}_*.deb"
        files = [*directory.glob(pattern), *directory.glob(f"*/{pattern}")]
        versions = {path.name.split("_")[1]: path for path in files}
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
            # Without a digest, because releases of apt report a wrong one differently.
            [APT_HELPER, "download-file", uri, partial],
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
            _say(f"downloaded {wanted.file}")
            return "" if digest == wanted.sha256 else str(_mismatch(uri, "", wanted.sha256, digest))
        if "No space left" in output:
            return f"disk full: {partial.parent.parent}"
        errors = re.findall(r"^E: (.*)", output, re.M)
        return errors[0] if errors else f"apt-helper ended with status {process.returncode}"

    def _mirrors(self, *, security: bool) -> list[Archive]:
        if override := os.environ.get("P5LAB_MIRROR"):
            return [] if security else [Archive(override.rstrip("/"), security=False)]
        archives = [entry for entry in host_archives(self.etc) if entry.security == security]
        if not archives and not security:
            raise FetchError(
                f"no Debian mirror in {self.etc}: set P5LAB_MIRROR to the address of a mirror, "
                "or P5LAB_DISTDIR to a directory of the files that sources.toml names"
            )
        return archives

    def archives_of(self, distribution: str) -> list[Archive]:
        """The archives of a distribution in the host's apt configuration, without security
        updates."""
        if distribution == "debian" and os.environ.get("P5LAB_MIRROR"):
            return self._mirrors(security=False)
        archives = host_archives(self.etc, SUITES.get(distribution, frozenset()))
        return [entry for entry in archives if not entry.security]

    # --- apt with a private configuration ---

    @property
    def _apt_directory(self) -> Path:
        return self.cache / "apt"

    def _update_index(self, source: Moving) -> str:
        """Updates the package index. Returns an empty text, or the first warning or error of apt.

        Such a message does not always mean that the update failed, because one of several suites
        may be missing.
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
            # apt writes no binary caches of the index. These caches would need four times the space
            # of the index and one second of time.
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

    def _apt(self, *command: str, timeout: float | None = None) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            command,
            env=self._environment(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
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


def _mismatch(file: str, where: str, expected: str, digest: str) -> FetchError:
    place = f" ({where})" if where else ""
    return FetchError(f"digest mismatch: {file}{place} has SHA-256 {digest}, expected {expected}")


def _check_space(directory: Path, needed: int, what: str) -> None:
    free = shutil.disk_usage(directory).free
    if free < needed:
        raise FetchError(
            f"disk full: {what} needs {needed >> 20} MB in {directory}, {free >> 20} MB are free"
        )


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}" if size < 10_000_000 else f"{size / 1e6:.0f}"


def _say(line: str) -> None:
    """Prints a line of progress, which begins with `fetch:`. An error line begins with `p5lab:`, so
    that src/p5lab/host/build.py can distinguish progress from errors."""
    print(f"fetch: {line}", file=sys.stderr, flush=True)


def read_resolved(path: Path) -> Resolved:
    """The record that `resolve --output` wrote. Raises UserError if the record is damaged."""
    try:
        return Resolved(**read_json(path, "remove it, and the next build makes it again"))
    except TypeError:
        raise UserError(f"{path}: not the record of a source; remove it") from None


def in_use(root: Path) -> set[str]:
    """The SHA-256 of each download from which this checkout was built."""
    digests = set()
    for record in (root / RECORDS).glob("*.json"):
        with contextlib.suppress(UserError):
            digests.add(read_resolved(record).sha256)
    return digests


def untested(root: Path, guests: Iterable[str]) -> list[str]:
    """A remark for each source of the built guests whose version is not one of those that
    sources.toml lists as tested. Counts may then differ from those in the documents."""
    said: dict[str, None] = {}
    sources = read_sources(root / "sources.toml")
    for guest in guests:
        try:
            made = read_json(root / f"build/guests/{guest}/guest.json", "build the guest again")
            names = [Path(path).stem for path in made["inputs"] if path.startswith(RECORDS)]
            records = [read_resolved(root / RECORDS / f"{name}.json") for name in names]
        except (OSError, UserError, LookupError, TypeError):
            continue  # a guest of other media, or the run itself reports the damage
        for record in records:
            source = sources.get(record.name)
            if isinstance(source, Moving) and record.version not in source.tested:
                said[
                    f"{source.package} {record.version} is not among the tested versions"
                    f" ({', '.join(source.tested) or 'none'}): counts of guest {guest} may differ"
                    " from those in the documents"
                ] = None
    return list(said)


def main() -> None:
    """The command line of this module, with the commands `resolve` and `all`. The build graph calls
    these commands."""
    parser = argparse.ArgumentParser(prog="p5lab.host.fetch", description=__doc__)
    verbs = parser.add_subparsers(dest="verb", required=True)
    resolve = verbs.add_parser("resolve", help="record which file is used for a source")
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
