# SPDX-License-Identifier: MIT
"""`./p5lab image DISTRIBUTION` makes the root file system of a distribution for a guest.

mmdebstrap makes the file system from a mirror, or the user provides it as a tarball. In both cases
p5lab.host.rootfs writes an archive of the same form to build/images/GUEST. The build graph adds our
init and programs, and makes the disk image (guest-images/parts/rootfs/mkrootfs.py). The mirror
comes from the host's own apt configuration, or the user names a mirror. No record contains the
mirror's name.
"""

import json
import os
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from p5lab.describe import guest
from p5lab.describe.guest import Guest, Image, ImageGuest
from p5lab.errors import STATUS_FAILED, UserError, disk_error, unknown
from p5lab.files import sha256_of
from p5lab.host import apt, rootfs
from p5lab.host.fetch import Fetcher
from p5lab.lab import Lab

SCHEMA_VERSION = 1
DEFAULT_SIZE = 128 << 20
SIZES = (32 << 20, 2 << 30)  # smallest and largest; the i-nodes of ext2 and IDE set these limits
LOG, RECORD = "mmdebstrap.log", "rootfs.json"
# A disk that p5lab sizes: for each file, space beside its content (the rest of its last block, its
# i-node); space for work; and the unit of the size. All in bytes.
FILE_BYTES, SPARE, STEP = 4096, 48 << 20, 16 << 20
_SIZE = re.compile(r"([0-9]{1,6})([MG])")
_PACKAGE = re.compile(r"[a-z0-9][a-z0-9+.-]+")  # Debian Policy 5.6.1


@dataclass(frozen=True)
class ImageRequest:
    """The options of the command line. An empty field means that the option was not given."""

    distribution: str
    architecture: str = guest.AMD64
    packages: tuple[str, ...] = ()  # in addition to the essential packages
    suite: str = ""
    mirror: str = ""
    keyring: Path | None = None
    tarball: Path | None = None
    sha256: str = ""
    size: int = 0  # bytes of the disk; 0: as much as the files need


@dataclass(frozen=True)
class RootArchive:
    """The archive of a guest's root file system: its content, its SHA-256, and the disk's size in
    bytes."""

    guest: str
    contents: rootfs.Contents
    sha256: str
    size: int  # bytes of the disk


def guests(lab: Lab, architecture: str = guest.AMD64) -> dict[str, ImageGuest]:
    """Returns the guests that use the root file system of a distribution for this architecture. The
    keys are the names of the distributions."""
    systems = (guest.load(lab, name) for name in guest.names(lab))
    return {
        system.image.distribution: system
        for system in systems
        if isinstance(system, ImageGuest)
        and system.image
        and system.image.architecture == architecture
        and system.image_of == system.name
    }


def check(lab: Lab, system: Guest, packages: Iterable[str] = ()) -> None:
    """Raises UserError if a guest's root file system has not been made yet, or if it lacks packages
    that the guest or a workload (`packages`) needs."""
    if not isinstance(system, ImageGuest) or not system.image:
        return
    needed = dict.fromkeys((*system.image.packages, *packages))
    place = lab.rootfs(system.image_of)
    if not place.is_file():
        raise UserError(
            f"guest {system.name}: its root file system has not been made; make it with"
            f" `{system.image.command(needed)}`"
        )
    about = json.loads(place.with_name(RECORD).read_text())
    known = about["packages"]  # empty if the archive contains no list of packages
    if lost := [name for name in needed if known and name not in known]:
        again = dict.fromkeys((*about["origin"].get("packages", ()), *needed))
        raise UserError(
            f"guest {system.name}: its disk lacks {', '.join(lost)}; make the disk with"
            f" `{system.image.command(again)}`"
        )


def make(lab: Lab, request: ImageRequest, step: Callable[[str], None]) -> RootArchive:
    """Makes the archive and its record. On failure, raises UserError and does not change the old
    archive and record."""
    known = guests(lab, request.architecture)
    if request.distribution not in known:
        raise unknown("distribution", request.distribution, known)
    system = known[request.distribution]
    image = system.image
    assert image is not None
    _check(request)
    place = lab.rootfs(system.name).parent
    try:
        place.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(prefix=".partial-", dir=place) as directory:
            work = Path(directory)
            if request.tarball:
                given, origin = request.tarball, {"tarball": request.sha256}
            else:
                given = work / f"{request.distribution}.tar"
                origin = _bootstrap(lab, request, image, given, place / LOG, step)
            step(f"reading {given.name}")
            contents = rootfs.repack(given, work / "rootfs.tar", image.architecture)
            if (distribution := contents.os_release["ID"]) != request.distribution:
                raise UserError(
                    f"{given}: os-release: ID: expected {request.distribution}, found"
                    f" {distribution}"
                )
            size = request.size or size_for(contents)
            made = RootArchive(system.name, contents, sha256_of(work / "rootfs.tar"), size)
            record = {
                "schema_version": SCHEMA_VERSION,
                "origin": origin,
                "size": made.size,
                "sha256": made.sha256,
                **asdict(contents),
            }
            (work / RECORD).write_text(json.dumps(record, indent=1, sort_keys=True) + "\n")
            for name in (RECORD, "rootfs.tar"):
                (work / name).replace(place / name)
    except OSError as error:
        raise disk_error(error, place) from None
    return made


def size_for(contents: rootfs.Contents) -> int:
    """The size of a disk that has room for the files and for work, in bytes. Raises UserError if
    this size is out of range."""
    needed = contents.bytes + contents.files * FILE_BYTES + SPARE
    size = max(DEFAULT_SIZE, -(-needed // STEP) * STEP)
    if size > SIZES[1]:
        raise UserError(
            f"image: {contents.files} files of {contents.bytes >> 20} MB need a disk of"
            f" {size >> 20} MB; expected at most {SIZES[1] >> 20} MB; use fewer --packages"
        )
    return size


def parse_packages(text: str) -> tuple[str, ...]:
    """The argument of --packages: names of Debian packages. Raises UserError for another text."""
    names = tuple(text.split(","))
    for name in names:
        if not _PACKAGE.fullmatch(name):
            raise UserError(
                "--packages: expected names of packages with commas between, such as"
                f" tk,ghostscript; found {name!r}"
            )
    return names


def parse_size(text: str) -> int:
    """The argument of --size in bytes. Raises UserError if the format is wrong or the size is out
    of range."""
    match = _SIZE.fullmatch(text)
    size = int(match[1]) << {"M": 20, "G": 30}[match[2]] if match else 0
    if not SIZES[0] <= size <= SIZES[1]:
        raise UserError(f"--size: expected a size from 32M to 2G, such as 256M; found {text!r}")
    return size


def _check(request: ImageRequest) -> None:
    """Raises UserError for a wrong option, and for options that contradict each other."""
    if request.suite and not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9.+-]*", request.suite):
        raise UserError(f"--suite: expected the name of a suite; found {request.suite!r}")
    if not request.tarball:
        if request.sha256:
            raise UserError("--sha256: expected only with --tarball FILE; it is the file's digest")
        return
    for option in ("suite", "mirror", "keyring", "packages"):
        if getattr(request, option):
            raise UserError(f"--{option}: expected without --tarball")
    if not re.fullmatch(r"[0-9a-f]{64}", request.sha256):
        raise UserError(
            "--tarball: expected together with --sha256 and the 64 hexadecimal digits that the"
            " publisher of the file states"
        )
    if not request.tarball.is_file():
        raise UserError(f"--tarball {request.tarball}: no such file")
    digest = sha256_of(request.tarball)
    if digest != request.sha256:
        raise UserError(
            f"--tarball {request.tarball}: has SHA-256 {digest}, expected {request.sha256}"
        )


# --- mmdebstrap -----------------------------------------------------------------------------


def _bootstrap(
    lab: Lab,
    request: ImageRequest,
    image: Image,
    output: Path,
    log: Path,
    step: Callable[[str], None],
) -> dict[str, Any]:
    """Runs mmdebstrap, which writes the archive. Returns the facts for the archive's record."""
    if not shutil.which("mmdebstrap"):
        raise UserError(
            f"image {request.distribution}: mmdebstrap is not installed; install it with `apt-get"
            " install mmdebstrap` (and `uidmap` for use without root), or give --tarball FILE",
            status=STATUS_FAILED,
        )
    suite = request.suite or image.suite
    # apt reads the keyring as another user, so all users need access to the keyring's directory.
    with tempfile.TemporaryDirectory() as directory:
        Path(directory).chmod(0o755)
        keyring = None
        if request.keyring:
            keyring = Path(directory) / request.keyring.name
            try:
                keyring.write_bytes(request.keyring.read_bytes())
            except OSError as error:
                raise UserError(f"--keyring {request.keyring}: {error.strerror}") from None
            keyring.chmod(0o644)
        source = source_line(lab, request.distribution, suite, request.mirror, keyring)
        _run(command(suite, source, image, request.packages), output, log, step)
    version = subprocess.run(["mmdebstrap", "--version"], capture_output=True, text=True)
    made = {"mmdebstrap": version.stdout.strip(), "suite": suite}
    return made | ({"packages": list(request.packages)} if request.packages else {})


def source_line(lab: Lab, distribution: str, suite: str, mirror: str, keyring: Path | None) -> str:
    """The mirror as a line of sources.list(5). Without `mirror`, the function uses the first mirror
    in the host's apt configuration. If `keyring` is given, apt verifies the mirror's signatures
    with this keyring. Raises UserError if there is no mirror."""
    fetcher = Fetcher.here(lab.root)
    if mirror:
        if not re.fullmatch(r"(https?|file|copy|ftp)://?\S+", mirror):
            raise UserError(
                f"--mirror: expected an address such as http://HOST/{distribution};"
                f" found {mirror!r}"
            )
        entry = apt.Archive(mirror.rstrip("/"), security=False)
    else:
        archives = fetcher.archives_of(distribution)
        if not archives:
            raise UserError(
                f"image {distribution}: this host's apt configuration names no mirror of this"
                " distribution; expected --mirror URL, or --tarball FILE with --sha256 DIGEST"
            )
        entry = archives[0]
    if keyring:
        entry = apt.Archive(entry.uri, entry.security, (("signed-by", str(keyring)),))
    return fetcher.source_line(entry, suite).strip()


def command(suite: str, source: str, image: Image, packages: tuple[str, ...] = ()) -> list[str]:
    """The command line of mmdebstrap, which installs the essential packages of the distribution,
    the given `packages`, and the packages that these need.

    mmdebstrap chooses one of several methods: root, user namespaces or fakechroot. All methods
    produce the same bytes. mmdebstrap writes the archive to standard output, because some methods
    have no permission to write to our directories.
    """
    # mmdebstrap's own apt needs the host's settings about proxies, certificates and time-outs.
    access = re.compile(r"Acquire::(https?|ftp)::|Acquire::Retries")
    settings = [f"--aptopt={line}" for line in apt.host_settings() if access.match(line)]
    return [
        "mmdebstrap",
        "--variant=essential",
        f"--architectures={image.architecture}",
        "--format=tar",
        *([f"--include={','.join(packages)}"] if packages else []),
        *image.options,
        *settings,
        suite,
        "-",
        source,
    ]


def _run(words: list[str], output: Path, log: Path, step: Callable[[str], None]) -> None:
    said: list[str] = []
    environment = {**os.environ, "SOURCE_DATE_EPOCH": str(rootfs.TIME), "LC_ALL": "C.UTF-8"}
    with output.open("wb") as file, log.open("w") as kept:
        process = subprocess.Popen(
            words,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
        )
        try:
            assert process.stderr is not None
            for line in process.stderr:
                kept.write(line)
                said.append(line.strip())
                step(said[-1].removeprefix("I: "))
            process.wait()
        finally:
            if process.poll() is None:
                process.terminate()
                process.wait()
    if process.returncode != 0:
        errors = [line for line in said if line.startswith("E: ")] or said[-1:] or ["failed"]
        raise UserError(
            f"mmdebstrap: {errors[0].removeprefix('E: ')} (log: {log})", status=STATUS_FAILED
        )
