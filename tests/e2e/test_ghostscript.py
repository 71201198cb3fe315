# SPDX-License-Identifier: MIT
"""Workload ghostscript: the pages on the screen of the simulated machine are those of this host.

The same programs of the same image run on the processor of this host: Ghostscript, its fonts, and
an X server. The tests are skipped without an image with these packages (docs/concepts/x.md), and on
a host that does not run 32-bit programs in another root directory. They take minutes, so they run
with --full.
"""

import json
import shutil
import subprocess
from collections import Counter
from dataclasses import replace

import pytest
import x_on_host
from PIL import Image, ImageChops

from p5lab.describe import experiment, script
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.execute.build_and_run import execute
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.progress import Progress
from p5stats import events

PROGRAM = Lab.here().program("linux", "ghostscript")
RECORD = Lab.here().rootfs("debian32").with_name("rootfs.json")
NEEDED = {"xserver-xorg-video-fbdev", "xserver-xorg-input-evdev", "ghostscript-x", "xvfb"}
PAGES = 13
MEMORY = (("dram.size", "64M"),)  # as in experiment `applications`
# The server copies to the frame buffer when it has nothing else to do, so the picture is taken a
# moment after the program has said that the page is there.
STEPS = "".join(
    f'[[script]]\nwait = "page {page}"\n[[script]]\npause = 0.3\n' for page in range(1, PAGES + 1)
)


def has_packages():
    return RECORD.is_file() and json.loads(RECORD.read_text())["packages"].keys() >= NEEDED


pytestmark = [
    pytest.mark.full,
    pytest.mark.skipif(not has_packages(), reason="no disk of debian32 with Ghostscript and Xvfb"),
]


@pytest.fixture(scope="module")
def workload(lab):
    """The runs of the workload in experiment `applications`, with the program compiled."""
    if not lab.engine.is_file():
        pytest.skip("the engine is not built: run ./p5lab build")
    subprocess.run([lab.root / "p5lab", "build", "build/guests/debian32"], check=True)
    return experiment.load(lab, "applications", Filter(workloads=("ghostscript",)))


@pytest.fixture(scope="module")
def root(lab, tmp_path_factory):
    place = x_on_host.unpacked(lab.rootfs("debian32"), tmp_path_factory.mktemp("root"))
    done = x_on_host.start(place, "/bin/true", stderr=subprocess.PIPE, text=True)
    if reason := done.communicate()[1]:
        pytest.skip(f"this host does not run 32-bit programs in another root: {reason}")
    return place


def arguments(run, pause):
    """The arguments of the program, with a pause after each page in milliseconds."""
    return replace(run, parameters=run.parameters | {"pause": pause}).parameter_text


def pages_of_the_machine(lab, run, place):
    """The picture of each page on the screen of the simulated machine."""
    (place / "pages.toml").write_text(f"schema_version = 1\n{STEPS}")
    asked = prepare(
        lab,
        Request(
            UserProgram(
                PROGRAM,
                arguments(run, 1000),
                scripts=(script.load(place / "pages.toml"),),
            ),
            Filter(guests=(run.guest.name,), settings=MEMORY, limit=600),
        ),
    ).runs
    (result,) = execute(lab, asked, Progress(), no_build=True, jobs=1, force=True)
    assert result.status == "ok", result.reason
    for page in range(1, PAGES + 1):
        with Image.open(result.directory / f"step-{2 * page}.png") as picture:
            yield picture.convert("RGB")


def pages_of_the_host(root, run):
    shutil.copy(PROGRAM, root / "tmp/ghostscript")
    with x_on_host.server(root, run.guest.screen) as screen:
        words = arguments(run, 60_000).split()
        yield from x_on_host.pages(root, screen, "/tmp/ghostscript", *words)


@pytest.mark.parametrize("number", range(4))
def test_each_page_has_the_dots_of_this_host(own_lab, workload, root, tmp_path, number):
    run = workload[number]
    host = list(pages_of_the_host(root, run))
    assert len({picture.tobytes() for picture in host}) == PAGES  # all pages differ
    for page, (machine, expected) in enumerate(
        zip(pages_of_the_machine(own_lab, run, tmp_path), host, strict=True), 1
    ):
        assert machine.size == expected.size == (1024, 768)
        assert ImageChops.difference(machine, expected).getbbox() is None, (run.label, page)


def test_the_workload_repeats_and_brackets_each_page(own_lab, workload):
    run = workload[-1]
    (result,) = execute(own_lab, [run], Progress(), no_build=True, jobs=1, force=True)
    assert result.status == "ok", result.reason
    found = events.parse(result.directory / "events.jsonl")
    counted = Counter(one.phase for one in found.brackets)
    assert [counted[phase] for phase in (0, 1, 2)] == [1, 1, PAGES - 1]
    # `force` fails if the events differ from those of the first run.
    (again,) = execute(own_lab, [run], Progress(), no_build=True, jobs=1, force=True, fork=False)
    assert again == result
