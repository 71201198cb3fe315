# SPDX-License-Identifier: MIT
"""Build one library and one archive of headers from Bochs, without Bochs's last link step.

The script unpacks the source, applies our patches, adds our instrumentation headers, configures and
compiles. The engine is then linked from the library and from our own objects. Our objects are
compiled with the headers. If we change a file that Bochs does not include, Bochs is therefore not
built again. The products depend only on the inputs and the compiler, not on paths, user or time.
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from building import BuildError, unpack, write_headers

from p5lab.errors import UserError
from p5lab.host.compilers import cc, cxx
from p5lab.host.fetch import Fetcher, read_resolved

CFLAGS = "-O3 -fno-pie -w"
CXXFLAGS = f"{CFLAGS} -std=c++17"
# The number of compiler calls with the configuration in configure.flags. Only the progress line
# uses it.
OBJECTS = 302
PROGRESS_SECONDS = 10.0

EMPTY_MAKEFILE = """\
libinstrument.a:
\tar rcsD $@
clean dist-clean:
"""


def say(line: str) -> None:
    print(f"engine: {line}", flush=True)


def run(step: str, command: list[str], tree: Path, log: Path) -> None:
    """Run one step and write its output to a log. If the step fails, print the end of the log."""
    with log.open("w") as output:
        process = subprocess.Popen(
            command, cwd=tree, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT
        )
        reported = time.monotonic()
        while process.poll() is None:
            time.sleep(0.05)
            if time.monotonic() - reported > PROGRESS_SECONDS:
                reported = time.monotonic()
                if done := log.read_text(errors="replace").count(" -c "):
                    say(f"{step}: {done} of about {max(done, OBJECTS)} files")
    if process.returncode != 0:
        print(log.read_text(errors="replace")[-4000:], file=sys.stderr)
        raise BuildError(f"Bochs: {step} failed")


def configure_flags(paths: list[Path]) -> list[str]:
    lines = [line for path in paths for line in path.read_text().splitlines()]
    return [flag for line in lines if (flag := line.partition("#")[0].strip())]


def member(directory: Path, name: str) -> Path:
    """The object file of a member of a library. Some object files are in subdirectories."""
    direct = directory / name
    objects = [direct] if direct.exists() else list(directory.rglob(name))
    if len(objects) != 1:
        raise BuildError(f"{directory.name}: expected one {name}, found {len(objects)}")
    return objects[0]


def linked_objects(arguments: list[str], tree: Path) -> list[Path]:
    """The object files in Bochs's own link command. Libraries are replaced by their members."""
    objects: list[Path] = []
    for argument in arguments:
        path = tree / argument
        if argument.endswith(".o"):
            objects.append(path)
        elif argument.endswith(".a"):
            listed = subprocess.run(["ar", "t", path], capture_output=True, text=True, check=True)
            objects += [member(path.parent, name) for name in listed.stdout.split()]
    return objects


def build(options: argparse.Namespace, source: Path, work: Path) -> None:
    tree = unpack(source, work / "source")
    say("Bochs: patching and configuring")
    for patch in sorted(options.patches):
        run(
            f"patch {patch.name}",
            ["patch", "-p1", "--forward", "--fuzz=0", "-i", str(patch.resolve())],
            tree,
            work / f"{patch.name}.log",
        )
    instrument = tree / "instrument/p5"
    instrument.mkdir()
    (instrument / "Makefile.in").write_text(EMPTY_MAKEFILE)
    for header in options.headers:
        shutil.copy(header, instrument)
    prefix = f"-ffile-prefix-map={tree}=bochs"
    run(
        "configure",
        [
            "./configure",
            *configure_flags(options.flags),
            f"CC={cc()}",
            f"CXX={cxx()}",
            f"CXXFLAGS={CXXFLAGS} {prefix}",
            f"CFLAGS={CFLAGS} {prefix}",
            "LDFLAGS=-no-pie",
        ],
        tree,
        work / "configure.log",
    )
    say("Bochs: compiling")
    # Bochs links with libtool. This script replaces libtool and records the arguments.
    link = tree / "record-link"
    link.write_text('printf "%s\\n" "$@" >link-line\n')
    run(
        "compile",
        ["make", f"-j{options.jobs}", "LIBTOOL=sh ./record-link", "bochs"],
        tree,
        work / "make.log",
    )
    objects = linked_objects((tree / "link-line").read_text().splitlines(), tree)
    library = work / "libbochs.a"
    # q, not r, because two directories may contain objects with the same name.
    run("archive", ["ar", "qcsD", str(library), *map(str, objects)], tree, work / "archive.log")
    shutil.copyfile(library, options.library)
    write_headers(tree, options.include, without="instrument")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--source", type=Path, required=True, help="build/sources/bochs.json")
    parser.add_argument("--flags", type=Path, nargs="+", required=True, help="configure.flags, ...")
    parser.add_argument("--patches", type=Path, nargs="*", default=[])
    parser.add_argument("--headers", type=Path, nargs="+", required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--library", type=Path, required=True)
    parser.add_argument("--include", type=Path, required=True, help="archive of headers")
    options = parser.parse_args()
    # Bochs's about text contains __DATE__. With a fixed date, the output is always the same.
    os.environ |= {"SOURCE_DATE_EPOCH": "788918400", "LC_ALL": "C"}
    try:
        source = Fetcher.here(Path.cwd()).obtain(read_resolved(options.source))
        with tempfile.TemporaryDirectory(prefix="bochs-") as work:
            build(options, source, Path(work))
    except (BuildError, UserError, OSError, subprocess.CalledProcessError) as error:
        print(f"p5lab: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
