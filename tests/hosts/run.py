#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Run the README's commands on stock hosts: in root file systems that debootstrap makes.

    python3 tests/hosts/run.py bookworm trixie
    python3 tests/hosts/run.py sid --user root --caches empty --command "run smoke" --command test

Each root has the release's own Python, compilers and tools, and nothing else. A clone of this
checkout's last commit is in a directory with a space in its path. An ordinary user finds the system
packages installed, as README asks; root finds nothing installed. The caches are a copy that belongs
to the user, or are empty. The mirror, its keys, the resolver, the certificates and the settings of
pip are those of this host.

The script prints a table. It fails if a command fails, if two roots have different events, or if
two roots (or this checkout, if it is built) have different kernels or programs. Without root
rights, mounts or debootstrap it prints `skipped` with the reason. All mounts are in a namespace
that ends with the script.
"""

from __future__ import annotations

import argparse
import ast
import hashlib
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "src"))
from p5lab.host.apt import Archive, host_archives, host_settings
from p5lab.host.doctor import needs
from p5lab.host.fetch import cache_directory

CHECKOUT = Path(__file__).resolve().parents[2]
USER = "reader"
PLACE = "home of a reader/p5lab"
CACHED = ("dist", "scons", "zig")
"""The parts of the cache that a user is given. The others hold the state of this host's apt."""
PRODUCTS = (
    "build/guests/*/bzImage",
    "build/guests/*/initramfs.cpio",
    "build/guests/linux-uml/linux",
    "build/guests/mach*/gnumach",
    "build/workloads/linux*/*",
    "build/bootrom/*.rom",
)
PASSED_ON = re.compile(r"(PIP|SSL|REQUESTS|CURL)_.*|(https?|ftp|no|all)_proxy", re.IGNORECASE)
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"


class Skipped(Exception):
    """This host cannot make the roots. The text says why."""


@dataclass
class Result:
    """What one command did in one root. `products` and `events`: SHA-256 by path."""

    root: str
    command: str
    seconds: float
    status: int
    last: str
    products: dict[str, str] = field(default_factory=dict)
    events: dict[str, str] = field(default_factory=dict)


def main() -> int:
    """Returns 0 if all commands succeed with equal products, or if the host cannot make roots."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n\n")[0])
    parser.add_argument("releases", nargs="+", metavar="RELEASE", help="bookworm, trixie, sid")
    parser.add_argument("--user", choices=("ordinary", "root"), default="ordinary")
    parser.add_argument("--caches", choices=("given", "empty"), default="given")
    parser.add_argument("--command", action="append", help="of ./p5lab; default: run smoke")
    parser.add_argument("--packages", default="", help="further system packages, by commas")
    parser.add_argument("--without", default="", help="system packages to leave out, by commas")
    parser.add_argument("--env", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--commit", default="HEAD", help="the commit to test")
    parser.add_argument("--keep", type=Path, help="keep bare roots here, for the next call")
    args = parser.parse_args()
    try:
        _check_host()
        results = [result for release in args.releases for result in _in_root(release, args)]
    except Skipped as reason:
        print(f"hosts: skipped: {reason}")
        return 0
    return _report(results)


def _check_host() -> None:
    """Raises Skipped if this host cannot make roots. Installs debootstrap if it is missing."""
    if os.geteuid() != 0:
        raise Skipped("only root can make a root file system")
    if subprocess.run(["unshare", "--mount", "--pid", "--fork", "true"], check=False).returncode:
        raise Skipped("this host permits no mounts in a namespace of their own (unshare --mount)")
    if not _mirrors():
        raise Skipped("no Debian mirror in /etc/apt")
    if not shutil.which("debootstrap"):
        for words in (["update"], ["install", "-y", "--no-install-recommends", "debootstrap"]):
            subprocess.run(["apt-get", "-q", *words], stdout=subprocess.DEVNULL, check=False)
    if not shutil.which("debootstrap"):
        raise Skipped("debootstrap is missing and apt-get could not install it")


def _mirrors(*, security: bool = False) -> list[Archive]:
    return [entry for entry in host_archives(Path("/etc/apt")) if entry.security == security]


def _in_root(release: str, args: argparse.Namespace) -> Iterator[Result]:
    """Makes a root and runs the commands in it, one after the other."""
    with tempfile.TemporaryDirectory(prefix="p5lab-host-", dir="/var/tmp") as directory:
        root = Path(directory) / "root"
        _say(f"{release}: making a root file system")
        _make(root, release, args.keep)
        home = _prepare(root, args)
        _say(f"{release}: {_tools_of(root)}")
        for command in args.command or ["run smoke"]:
            _say(f"{release}: ./p5lab {command}")
            start = time.monotonic()
            log = Path(directory) / "log"
            status = _run_as(root, home, args, command, log)
            lines = [line for line in log.read_text(errors="replace").splitlines() if line.strip()]
            shown = lines[-40:] if not status else [*_failed(lines), *lines[-40:]]
            print("\n".join(shown), flush=True)
            seconds = time.monotonic() - start
            name = f"{release}, {args.user}, caches {args.caches}"
            errors = [line for line in lines if status and line.startswith("p5lab: ")]
            last = errors[-1] if errors else ""
            yield Result(name, command, seconds, status, last, *digests(home / PLACE))


def _failed(lines: Sequence[str]) -> list[str]:
    """The names of failed tests and their errors, in the output of `test`."""
    return [line for line in lines if line.startswith(("FAILED ", "ERROR ", "E  "))][-400:]


def _tools_of(root: Path) -> str:
    script = "for name in python3 gcc tar; do $name --version 2>&1 | head -n 1; done; true"
    return "; ".join(_inside(root, ["/bin/sh", "-c", script], quiet=True).splitlines())


def _make(root: Path, release: str, kept: Path | None) -> None:
    """Makes a bare root with the host's settings. Raises CalledProcessError."""
    if kept and (kept / release).is_dir():
        subprocess.run(["cp", "-a", "--reflink=auto", kept / release, root], check=True)
    else:
        _debootstrap(root, release)
        if kept:
            kept.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", "--reflink=auto", root, kept / release], check=True)
    lines = []
    for security in (False, True):
        suffix = "-security" if security else ""
        if security and release == "sid":
            continue
        for entry in _mirrors(security=security):
            options = " ".join(f"{key}={value}" for key, value in entry.options)
            lines.append(f"deb [{options}] {entry.uri} {release}{suffix} main")
            for key, value in entry.options:
                if key == "signed-by":
                    _copy(Path(value), root)
    (root / "etc/apt/sources.list").write_text("\n".join(dict.fromkeys(lines)) + "\n")
    settings = [line for line in host_settings() if "IndexTargets" not in line]
    (root / "etc/apt/apt.conf.d/90host").write_text("\n".join(settings) + "\n")
    for file in ("/etc/resolv.conf", "/etc/hosts", "/etc/ssl/certs/ca-certificates.crt"):
        _copy(Path(file), root)
    for name, value in os.environ.items():
        if PASSED_ON.fullmatch(name) and Path(value).is_file():
            _copy(Path(value), root)
    (root / "etc/pip.conf").write_text(_pip_settings(root))


def _debootstrap(root: Path, release: str) -> None:
    entry = _mirrors()[0]
    options = dict(entry.options)
    trust = ["--no-check-gpg"] if options.get("trusted") == "yes" else []
    key = options.get("signed-by", "")
    if key.startswith("/"):
        trust.append(f"--keyring={key}")
    # With certificates, because a later installation would replace those of this host.
    more = ["--variant=minbase", "--include=ca-certificates"]
    words = ["debootstrap", *more, *trust, release, str(root), entry.uri]
    # It mounts file systems, so it gets a namespace too.
    done = subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "--kill-child", *words],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        print(done.stdout[-3000:], file=sys.stderr)
        raise SystemExit(f"hosts: debootstrap {release}: status {done.returncode}")


def _copy(source: Path, root: Path) -> None:
    """Copies a file or directory of this host to the same path in the root."""
    if not source.exists():
        return
    target = root / source.relative_to("/")
    target.parent.mkdir(parents=True, exist_ok=True)
    # The root's own links may be absolute, so nothing is written through them.
    shutil.rmtree(target, ignore_errors=True)
    target.unlink(missing_ok=True)
    subprocess.run(["cp", "-rL", source, target], check=True)


def _pip_settings(root: Path) -> str:
    """pip's settings on this host, without those from variables, as the text of pip.conf."""
    shown = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    ).stdout
    lines = []
    for name, value in re.findall(r"^([\w-]+\.[\w-]+)=(.*)$", shown, re.MULTILINE):
        section, _, key = name.partition(".")
        text = str(ast.literal_eval(value))
        if text.startswith("/"):
            _copy(Path(text), root)
        lines.append(f"[{section}]\n{key} = {text}\n")
    return "".join(lines)


def _prepare(root: Path, args: argparse.Namespace) -> Path:
    """Installs the packages that an ordinary user is told to install, and puts the clone and the
    caches into the home directory. Returns the home directory, as a path of this host."""
    packages = [word for word in args.packages.split(",") if word]
    if any(command.startswith("test") for command in args.command or ()):
        packages.append("git")  # some tests look at a checkout as git does
    if args.user == "ordinary":
        wanted = needs((CHECKOUT / "p5lab").read_text())
        packages += dict.fromkeys([*(package for _, package in wanted), "python3-venv"])
    packages = [name for name in packages if name not in args.without.split(",")]
    install = f"apt-get -q -y install --no-install-recommends {shlex.join(packages)}"
    script = f"export DEBIAN_FRONTEND=noninteractive; apt-get -q update && {install}"
    _inside(root, ["/bin/sh", "-c", script if packages else "true"], quiet=True)
    home = root / ("root" if args.user == "root" else f"home/{USER}")
    if args.user == "ordinary":
        _inside(root, ["useradd", "--create-home", "--shell", "/bin/sh", USER])
    clone = home / PLACE
    clone.parent.mkdir(parents=True)
    subprocess.run(["git", "clone", "-q", "--no-hardlinks", CHECKOUT, clone], check=True)
    revision = subprocess.run(
        ["git", "rev-parse", args.commit], cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout.strip()
    subprocess.run(["git", "-C", clone, "checkout", "-q", "--detach", revision], check=True)
    for part in CACHED if args.caches == "given" else ():
        source, target = cache_directory() / part, home / ".cache/p5lab" / part
        if source.is_dir():
            target.parent.mkdir(parents=True, exist_ok=True)
            subprocess.run(["cp", "-a", "--reflink=auto", source, target], check=True)
    if args.user == "ordinary":
        _inside(root, ["chown", "-R", f"{USER}:{USER}", f"/home/{USER}"])
    return home


def _run_as(root: Path, home: Path, args: argparse.Namespace, command: str, log: Path) -> int:
    """Runs a command of p5lab in the root as the user. Returns its exit status."""
    inside = Path("/", home.relative_to(root))
    environment = {
        "PATH": PATH,
        "HOME": str(inside),
        "LANG": "C.UTF-8",
        "P5LAB_PROGRESS": "plain",
        "DEBIAN_FRONTEND": "noninteractive",
        **{name: value for name, value in os.environ.items() if PASSED_ON.fullmatch(name)},
        **dict(pair.split("=", 1) for pair in args.env),
    }
    setpriv = [] if args.user == "root" else [f"--userspec={USER}:{USER}"]
    words = ["env", "-i", *(f"{name}={value}" for name, value in environment.items())]
    words += ["/bin/sh", "-c", f'cd "$0" && exec ./p5lab {command}', str(inside / PLACE)]
    with log.open("w") as file:
        return _start(root, words, setpriv, stdout=file, stderr=subprocess.STDOUT).wait()


def _inside(root: Path, words: Sequence[str], *, quiet: bool = False) -> str:
    """Runs a command as root in the root, and returns its output. Raises SystemExit."""
    process = _start(root, words, [], stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    output, _ = process.communicate()
    text = output.decode(errors="replace")
    if process.returncode:
        print(text[-3000:], file=sys.stderr)
        raise SystemExit(f"hosts: {shlex.join(words)}: status {process.returncode}")
    if not quiet:
        print(text, end="")
    return text


# The shell stays as the first process of the namespace, which must wait for orphans.
IN_NAMESPACE = """
mount --make-rprivate / && mount -t proc proc "$0/proc" && mount --rbind /dev "$0/dev" || exit 125
chroot "$@" &
wait $!
"""


def _start(
    root: Path, words: Sequence[str], options: Sequence[str], **streams: object
) -> subprocess.Popen[bytes]:
    """Starts a command in the root, with mounts that end with it."""
    namespace = ["unshare", "--mount", "--pid", "--fork", "--kill-child"]
    shell = ["/bin/sh", "-c", IN_NAMESPACE, str(root), *options, str(root)]
    return subprocess.Popen(
        [*namespace, *shell, *words],
        stdin=subprocess.DEVNULL,
        env={"PATH": PATH, "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"},
        **streams,  # type: ignore[call-overload]
    )


def digests(checkout: Path) -> tuple[dict[str, str], dict[str, str]]:
    """The SHA-256 of what a checkout has built, by path, and of the events of its runs, by
    experiment and label."""
    files = {path for pattern in PRODUCTS for path in checkout.glob(pattern) if path.is_file()}
    products = {str(path.relative_to(checkout)): _sha256(path) for path in sorted(files)}
    events = {}
    for path in sorted(checkout.glob("results/*/*/events.jsonl")):
        record = json.loads((path.parent / "run.json").read_text())
        # The id of a run contains the digest of the engine, which the host's compiler makes.
        events[f"{record['experiment']}: {record['label']}"] = _sha256(path)
    return products, events


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _report(results: list[Result]) -> int:
    """Prints the table and the differences. Returns the exit status."""
    print(
        "\n| root | command | seconds | status | products | events |\n|---|---|---:|---:|---|---|"
    )
    for result in results:
        products, events = (_together(found) for found in (result.products, result.events))
        print(
            f"| {result.root} | `./p5lab {result.command}` | {result.seconds:.0f} |"
            f" {result.status} | {products} | {events} |"
        )
    # The results of this checkout may be of any engine and machine.
    here = Result("this checkout", "", 0, 0, "", digests(CHECKOUT)[0])
    different = list(_differences([here, *results]))
    for line in different:
        print(f"hosts: {line}")
    failed = [result for result in results if result.status]
    for result in failed:
        print(f"hosts: {result.root}: ./p5lab {result.command}: {result.last or result.status}")
    bad = len(failed) + len(different)
    print(f"hosts: {len(results) - len(failed)} passed, {bad} failed")
    return 1 if bad else 0


def _together(found: dict[str, str]) -> str:
    text = "\n".join(f"{name} {digest}" for name, digest in sorted(found.items()))
    return f"{len(found)}: {hashlib.sha256(text.encode()).hexdigest()[:12]}" if found else "none"


def _differences(results: list[Result]) -> Iterator[str]:
    """The products and events that are not the same wherever they exist."""
    for kind in ("products", "events"):
        known: dict[str, tuple[str, str]] = {}
        for result in results:
            for name, digest in getattr(result, kind).items():
                where, before = known.setdefault(name, (result.root, digest))
                if before != digest:
                    yield f"{name} differs between {where} and {result.root}"


def _say(line: str) -> None:
    print(f"hosts: {line}", flush=True)


if __name__ == "__main__":
    sys.exit(main())
