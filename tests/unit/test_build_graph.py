# SPDX-License-Identifier: MIT
"""The build graph after a full build: the steps that run again, and the steps that come from the
cache.

These tests compile no code. A second checkout takes all products from the cache. After a change,
scons lists only the steps that must run again.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from checkout import REPO, copied

from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.engines.bochs.engine import Bochs
from p5lab.files import digest_of
from p5lab.keep import store
from p5lab.lab import Lab

HEAVY = {"Bochs", "kernel", "zig", "C++", "link", "assemble", "pack"}


def scons(root, *arguments):
    """Returns the steps that scons lists, as (kind, product)."""
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", *arguments],
        cwd=root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line.rsplit(None, 1) for line in done.stdout.splitlines() if line.startswith("  ")]
    return {(kind.strip(), product) for kind, product in lines}


@pytest.fixture(scope="module", autouse=True)
def engine(built):
    return built("build/engine/p5bochs")


def checkout(tmp_path_factory):
    """Returns a checkout at another path, which contains a space."""
    root = copied(tmp_path_factory.mktemp("second clone") / "p5 lab")
    scons(root, "build/sources")
    return root


@pytest.fixture(scope="module")
def built_clone(tmp_path_factory):
    """Returns a second checkout with all products, and the kinds of the steps that made them."""
    root = checkout(tmp_path_factory)
    return root, {kind for kind, _ in scons(root)}


@pytest.fixture
def clone(built_clone):
    """Returns the second checkout. A test that makes other products makes the old ones again,
    except the last two tests."""
    return built_clone[0]


def test_another_checkout_takes_everything_from_the_cache(complete, built_clone, tmp_path_factory):
    clone, kinds = built_clone
    if kinds & HEAVY:
        # The cache was emptied after the build of REPO. Now it is full again.
        third = checkout(tmp_path_factory)
        assert {kind for kind, _ in scons(third)} & HEAVY == set()
    for product in (
        "build/engine/p5bochs",
        "build/engine/engine.json",
        "build/guests/linux/bzImage",
        "build/guests/linux/initramfs.cpio",
        "build/guests/linux/guest.json",
        "build/guests/linux64/vmlinux",
        "build/guests/linux64/initramfs.cpio",
        "build/bootrom/p5boot.rom",
        "build/workloads/linux/getpid",
        "build/tests/engine_tests",
    ):
        assert (clone / product).read_bytes() == (REPO / product).read_bytes(), product
    assert scons(clone, "-n") == set()


CHANGED = {
    "engine/p5/cache.cc": (
        "// changed\nint changed;\n",
        {
            ("C++", "build/obj/engine/p5bochs/p5/cache.cc.o"),
            ("C++", "build/obj/engine/p5bochs64/p5/cache.cc.o"),
            ("C++", "build/obj/tests/model/p5/cache.o"),
            ("C++", "build/obj/tests/mutable/p5/cache.o"),
            ("C++", "build/obj/tests/x86-64/p5/cache.o"),
            ("record", "build/engine/engine.json"),
            ("record", "build/engine/engine64.json"),
        },
    ),
    # Few files know the classes of the policies, so a policy of one's own is soon compiled.
    "engine/p5/replacement/plru/policy.hh": (
        "// changed\n",
        {
            ("C++", f"build/obj/{place}/{part}.{ending}")
            for place, ending in (
                ("engine/p5bochs", "cc.o"),
                ("engine/p5bochs64", "cc.o"),
                ("tests/model", "o"),
                ("tests/mutable", "o"),
            )
            for part in ("measure/shadow", "measure/shadow_l2")
        }
        | {
            # This object does not depend on the processor, so both engines and the tests share it.
            ("C++", "build/obj/engine/any/p5/replacement.cc.o"),
            ("C++", "build/obj/tests/mutable/p5/replacement.o"),
            ("C++", "build/obj/tests/cases/config_test.o"),
            ("C++", "build/obj/tests/x86-64/p5/replacement.o"),
            ("record", "build/engine/engine.json"),
            ("record", "build/engine/engine64.json"),
        },
    ),
    "workloads/micro/getpid/getpid.c": (
        "int changed;\n",
        {
            (step, f"build/workloads/{programs}/getpid")
            for step in ("zig", "check ISA")
            for programs in ("linux", "mach", "native")
        }
        | {(step, "build/linux2/getpid") for step in ("zig", "check ISA")}
        | {("zig", f"build/workloads/{programs}/getpid") for programs in ("linux64", "glibc64")},
    ),
    # Only a guest for i386 can run this program.
    "workloads/micro/int-iret/int-iret.c": (
        "int changed;\n",
        {
            (step, f"build/workloads/{programs}/int-iret")
            for step in ("zig", "check ISA")
            for programs in ("linux", "mach", "native")
        },
    ),
    "guest-images/linux/kernel.config": (
        "# changed\n",
        {
            ("kernel", "build/guests/linux/bzImage"),
            ("kernel", "build/guests/linux-coloured/bzImage"),
            ("record", "build/guests/linux/guest.json"),
            ("record", "build/guests/linux-coloured/guest.json"),
        },
    ),
    "guest-images/linux64/kernel.config": (
        "# changed\n",
        {
            ("kernel", "build/guests/linux64/bzImage"),
            ("record", "build/guests/linux64/guest.json"),
        },
    ),
    "tools/manifest.py": (
        "# changed\n",
        {
            ("record", "build/engine/engine.json"),
            ("record", "build/engine/engine64.json"),
            ("record", "build/guests/linux/guest.json"),
            ("record", "build/guests/linux-coloured/guest.json"),
            ("record", "build/guests/linux-uml/guest.json"),
            ("record", "build/guests/linux64/guest.json"),
            ("record", "build/guests/mach/guest.json"),
        },
    ),
    # build_user.py of mach imports build_musl.py, and this script imports the module.
    "tools/many_files.py": (
        "# changed\n",
        {
            ("musl", "build/libc/musl/lib/libc.a"),
            ("musl", "build/libc/mach/lib/libc.a"),
            ("zig", "build/libc/musl-old/lib/libc.a"),
            ("zig", "build/libc/musl-bsd/lib/libc.a"),
            ("record", "build/guests/mach/guest.json"),
        },
    ),
    "README.md": ("# changed\n", set()),
    "src/p5lab/cli/main.py": ("# changed\n", set()),
}
"""By file: what is appended to the file, and the steps that scons then lists."""

# These files change together, so that scons reads the graph once for them. --full changes each file
# alone. The records of tools/manifest.py are also among the steps of other files, so
# test_a_comment_in_a_declaration_compiles_nothing changes this file.
RECORDER = "tools/manifest.py"
TOGETHER = tuple(file for file in CHANGED if file != RECORDER)


@pytest.mark.parametrize(
    "files",
    [TOGETHER, *(pytest.param((file,), marks=pytest.mark.full) for file in CHANGED)],
    ids=lambda files: files[0],
)
def test_a_changed_file_rebuilds_what_depends_on_it(clone, files):
    """scons lists only the first steps, because the later steps depend on their products."""
    before = {file: (clone / file).read_bytes() for file in files}
    try:
        for file, content in before.items():
            (clone / file).write_bytes(content + CHANGED[file][0].encode())
        assert scons(clone, "-n") == set().union(*(CHANGED[file][1] for file in files))
    finally:
        for file, content in before.items():
            (clone / file).write_bytes(content)


# A product of each part. No product belongs to two parts.
OF_PARTS = {
    "engine": "build/engine/p5bochs",
    "guests": "build/guests/linux/initramfs.cpio",
    "workloads": "build/workloads/linux/getpid",
    "tests": "build/tests/engine_tests",
}


@pytest.mark.parametrize(
    "parts",
    [tuple(OF_PARTS), *(pytest.param((part,), marks=pytest.mark.full) for part in OF_PARTS)],
    ids=" ".join,
)
def test_a_part_is_all_its_products(clone, parts):
    """The name of a part is also the name of a directory with sources. A header that Bochs sees
    rebuilds Bochs."""
    products = [OF_PARTS[part] for part in parts]
    kept = [(clone / name).rename(clone / f"{name}.kept") for name in products]
    header = clone / "engine/bochs/instrument.h"
    before = header.read_bytes()
    try:
        header.write_bytes(before + b"extern int changed;\n")
        made = {made for _, made in scons(clone, "-n", "--cache-disable", *parts)}
        assert set(products) <= made
        assert ("build/engine/bochs/libbochs.a" in made) == ("engine" in parts)
    finally:
        header.write_bytes(before)
        for name, file in zip(products, kept, strict=True):
            file.rename(clone / name)


def test_products_do_not_hold_the_path_of_the_checkout_or_the_cache():
    for product in (
        "build/engine/p5bochs",
        "build/guests/linux/vmlinux",
        "build/guests/linux64/vmlinux",
    ):
        data = (REPO / product).read_bytes()
        assert str(REPO).encode() not in data
        assert str(Path.home()).encode() + b"/" not in data


def test_a_compiler_without_our_compiled_headers_finds_their_text():
    """Clang does not look for compiled headers on the include path, but for the text."""
    (name,) = re.findall(r'"-include", "(.+?)"', (REPO / "SConstruct").read_text())
    assert (REPO / "engine" / name).is_file()  # engine/ is on the include path


def guests_and_runs(root, place):
    """Returns the digest of each product of the guests, and the ids of runs by guest, workload and
    parameters."""
    guests = {
        path: digest_of(path) for path in (root / "build/guests").rglob("*") if path.is_file()
    }
    lab, runs = Lab(root), {}
    for run in (
        *experiment.load(lab, "structure"),
        *experiment.load(lab, "micro", Filter(guests=("linux64",))),
    ):
        plan = Bochs().prepare(lab, run, place)
        key = (run.guest.name, run.workload.name, run.parameter_text)
        runs[key] = store.run_id(store.identity(plan))
    return guests, runs


def test_a_new_and_a_changed_workload_change_no_guest_and_no_other_run(clone, tmp_path):
    """The workload getpid makes a second call, and there is a new workload and a new header. The
    products of the checkout are then others."""
    guests, runs = guests_and_runs(clone, tmp_path)
    assert {name for name, *_ in runs} == {"linux", "linux-uml", "linux64", "mach", "mach-split"}
    added, header = clone / "workloads/micro/my-workload", clone / "workloads/lib/mine.h"
    changed = clone / "workloads/micro/getpid/getpid.c"
    shutil.copytree(REPO / "docs/extend/templates/workloads/my-workload", added)
    header.write_text("/* nothing */\n")
    call = b"syscall(SYS_getpid)"
    changed.write_bytes(changed.read_bytes().replace(call, call + b", " + call))
    made = {Path(product).name for _, product in scons(clone, "-n", "--cache-disable")}
    assert made == {"getpid", "my-workload"}
    scons(clone)
    guests_now, runs_now = guests_and_runs(clone, tmp_path)
    assert guests_now == guests
    assert {key for key in runs if runs_now[key] != runs[key]} == {
        key for key in runs if key[1] == "getpid"
    }


def test_a_comment_in_a_declaration_compiles_nothing(clone):
    """The generated files stay the same, so only the records of the sources change. What makes the
    records has changed, too. This is the last test of the checkout, because it changes the sources.
    """
    for name in ("engine/p5/events.toml", RECORDER):
        path = clone / name
        path.write_bytes(path.read_bytes() + b"# changed\n")
    # This build makes the file, or takes it from the cache if an earlier test has made it.
    assert scons(clone, "build/generated") <= {("declare", "build/generated/declared_base.cc")}
    assert scons(clone, "-n") == CHANGED[RECORDER][1]
