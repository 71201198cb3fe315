# SPDX-License-Identifier: MIT
"""Guest debian32: programs of Debian for i386 run with clocks and give what they give on this host.

The tests are skipped if the checkout has no root file system of this guest. `./p5lab image debian
--arch i386 --packages ...` makes it. A test of a program is skipped if the image lacks its package.
"""

import json
import shlex
import subprocess
from pathlib import Path

import pytest
from boot_sector import new_runs
from debian_programs import CASES
from delivered_workload import ran

from p5lab.describe import guest
from p5lab.describe.observation import AttributedCounts, Observation
from p5lab.describe.program_files import ProgramFiles
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.execute.build_and_run import execute
from p5lab.lab import Lab
from p5lab.prepare import prepare
from p5lab.progress import Progress
from p5stats import events, tidy

SYSTEM = "debian32"
RECORD = Lab.here().rootfs(SYSTEM).with_name("rootfs.json")
PHASE_WHOLE = 0xFFFFFFFE
FAST = ("sort", "python3", "sqlite3")  # the other programs run with --full
NEWER = ("newer.instructions", "newer.cycles")
# Runs a program in the root file system, with the environment that init gives (init.c).
ON_HOST = """set -e; for name in dev proc; do mount --rbind /$name "$0/$name"; done
mount -t tmpfs tmpfs "$0/tmp"; chmod 1777 "$0/tmp"; cd "$0/root"
exec chroot "$0" /usr/bin/env -i HOME=/root TERM=linux PATH=/usr/sbin:/usr/bin:/sbin:/bin \
/bin/sh -c 'cd /root; exec "$@"' - "$@" """

pytestmark = pytest.mark.skipif(
    not RECORD.is_file(), reason=f"no root file system of guest {SYSTEM}"
)


@pytest.fixture(scope="module")
def debian(lab):
    """Returns the guest. The first build of its kernel in a checkout takes minutes."""
    if not lab.engine.is_file():
        pytest.skip("the engine is not built: run ./p5lab build")
    subprocess.run([lab.root / "p5lab", "build", f"build/guests/{SYSTEM}"], check=True)
    return guest.load(lab, SYSTEM)


@pytest.fixture(scope="module")
def root(lab, tmp_path_factory):
    """The root file system in a directory of this host, which runs its programs."""
    place = tmp_path_factory.mktemp("root")
    subprocess.run(["tar", "-xf", lab.rootfs(SYSTEM), "-C", place, "--no-same-owner"], check=True)
    for name in ("dev", "proc", "root", "tmp"):
        (place / name).mkdir(exist_ok=True)
    done = on_host(place, ("/bin/true",))
    if done.returncode:
        pytest.skip(f"this host does not run 32-bit programs in another root: {done.stderr}")
    return place


def on_host(place, command, files=(), stdin=""):
    for path, content in dict(files).items():
        (place / path.lstrip("/")).write_text(content)
    words = ["unshare", "-rm", "sh", "-c", ON_HOST, place, *command]
    return subprocess.run(words, input=stdin, capture_output=True, text=True)


@pytest.fixture
def in_guest(own_lab, debian, tmp_path):
    """Returns a function that runs a program in the guest and returns the run directory."""

    def run(command, files=(), stdin="", **choice):
        placed = []
        for number, (path, content) in enumerate(dict(files).items()):
            (tmp_path / str(number)).write_text(content)
            placed.append((tmp_path / str(number), path))
        (tmp_path / "stdin").write_text(stdin)
        brings = ProgramFiles(tuple(placed), tmp_path / "stdin" if stdin else None)
        runs = prepare(
            own_lab,
            Request(
                UserProgram(Path(f"guest:{command[0]}"), shlex.join(command[1:]), files=brings),
                Filter(guests=(SYSTEM,), limit=300, **choice),
            ),
        ).runs
        (result,) = execute(own_lab, runs, Progress(), no_build=True, jobs=1)
        assert result.status == "ok", (result.reason, output(result.directory))
        return result.directory

    return run


def output(directory):
    return (directory / "output.log").read_text()


def all_counts(directory, event, phase=PHASE_WHOLE):
    """The count of an event in each bracket of a phase."""
    parsed = events.parse(directory / "events.jsonl")
    index = list(parsed.units).index(event)

    def total(marker):
        return sum(v[index] for v in marker.banks.values() if index < len(v))

    return [total(one.end) - total(one.begin) for one in parsed.brackets if one.phase == phase]


def counts(directory, event, phase=PHASE_WHOLE):
    """The count of an event in the only bracket of a phase."""
    (count,) = all_counts(directory, event, phase)
    return count


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=case.name, marks=() if case.name in FAST else pytest.mark.full)
        for case in CASES
    ],
)
def test_a_program_gives_what_it_gives_on_this_host(in_guest, root, case):
    if case.package and case.package not in json.loads(RECORD.read_text())["packages"]:
        pytest.skip(f"the image has no package {case.package}")
    expected = case.holds
    if not expected:
        done = on_host(root, case.command, case.files, case.stdin)
        assert done.returncode == 0, done.stderr
        expected = done.stdout
    directory = in_guest(case.command, case.files, case.stdin)
    assert expected
    assert output(directory) == expected
    assert counts(directory, "cycles.busy") > counts(directory, "instructions") > 500_000


def test_newer_instructions_and_their_clocks_are_counted(in_guest):
    directory = in_guest(("/usr/bin/sort", "/etc/passwd"))
    newer, clocks = (counts(directory, event) for event in NEWER)
    assert 0 < newer <= clocks <= 2 * newer  # the timing table: one or two clocks each
    assert newer < counts(directory, "instructions") / 20
    named = json.loads((directory / "run.json").read_text())
    assert named["machine"]["values"]["cpu.isa"] == "pentium+cmov"


def test_the_processor_has_cmov_and_nothing_newer(in_guest):
    shown = output(in_guest(("/usr/bin/grep", "^flags", "/proc/cpuinfo"))).split()
    assert "cmov" in shown
    assert not {"mmx", "sse", "sse2", "sep", "fxsr", "pae", "apic"} & set(shown)


def test_arguments_files_and_input_arrive_unchanged(in_guest):
    script = 'printf "<%s>" "$@"; cat; cat /root/a/b/c; ls -l /root/a/b/c | cut -c1-10'
    arguments = ("two words", "", "$HOME", '"', "line\nbreak", "ä")
    files = {"/root/a/b/c": "brought\n"}
    said = output(in_guest(("/bin/sh", "-c", script, "sh", *arguments), files, "typed\n"))
    assert said == '<two words><><$HOME><"><line\nbreak><ä>typed\nbrought\n-rw-r--r--\n'


def test_without_input_a_program_reads_nothing(in_guest):
    assert output(in_guest(("/usr/bin/wc", "-c"))) == "0\n"


def test_a_repeated_run_has_the_same_events(in_guest, own_lab):
    first = in_guest(("/usr/bin/sort", "/etc/passwd"))
    before = (first / "events.jsonl").read_bytes()
    runs = prepare(
        own_lab,
        Request(
            UserProgram(Path("guest:/usr/bin/sort"), "/etc/passwd"),
            Filter(guests=(SYSTEM,), limit=300),
        ),
    ).runs
    (again,) = execute(own_lab, runs, Progress(), no_build=True, jobs=1, force=True, fork=False)
    assert again.directory == first
    assert (first / "events.jsonl").read_bytes() == before


def test_functions_have_the_names_of_the_images_symbols(in_guest):
    directory = in_guest(
        ("/usr/bin/sort", "/etc/passwd"),
        observation=Observation.of(AttributedCounts(("functions",))),
    )
    said = (directory / "attribution.jsonl").read_text()
    assert '"/usr/lib/i386-linux-gnu/libc.so.6"' in said
    assert '"malloc"' in said or '"strlen"' in said


def test_more_memory(in_guest):
    directory = in_guest(
        ("/usr/bin/grep", "MemTotal", "/proc/meminfo"), settings=(("dram.size", "64M"),)
    )
    assert 50_000 < int(output(directory).split()[1]) <= 65_536  # KB


def test_the_disk_is_made_of_the_archive(lab, debian):
    """The record of the guest names the root file system, the kernel and the distribution."""
    about = json.loads(RECORD.read_text())
    built = json.loads(debian.record.read_text())["inputs"]
    assert built["root file system"] == about["sha256"]
    assert built["os-release"].startswith("Debian GNU/Linux 12")
    assert debian.disk.stat().st_size <= about["size"]


@pytest.mark.full
def test_a_call_of_wine_goes_to_its_server_and_back(own_lab, debian):
    """One of p5lab's programs for Win32. Needs the packages wine32 and wine."""
    if "wine32" not in json.loads(RECORD.read_text())["packages"]:
        pytest.skip("the image has no package wine32")
    words = "--program guest:/root/win32/run.sh --args calls --programs win32 --guest debian32"
    (made,) = new_runs(own_lab, *words.split(), "--set", "dram.size=128M", "--limit", 900)
    table = tidy.load(made)

    def each(phase, event):
        chosen = table[(table["phase"] == phase) & (table["event"] == event)]
        return chosen.groupby("iteration")["value"].sum()

    for phase in ("SetEvent", "DuplicateHandle"):
        assert each(phase, "cr3_loads.changed").median() == 2
        busy = table[(table["phase"] == phase) & (table["event"] == "cycles.busy")]
        rings = busy.groupby(["address_space", "ring"])["value"].sum()
        assert len(rings[rings > 0].groupby("address_space").nunique()) == 2
    assert each("GetCurrentProcessId", "crossings.int").sum() == 0
    assert each("GetCurrentProcessId", "cycles.busy").median() < 50


# --- workloads that the disk does not contain -----------------------------------------------------

SFTP = "peer = 'remote', kilobytes = 64, buffer = 4096, filesystem = 'memory'"


@pytest.mark.parametrize(
    ("name", "parameters", "phase", "event", "expected"),
    [
        ("bitblt", "depth = '8', frames = 3", 0, "uncached_writes", 3 * 760 * 143),  # test_bitblt
        ("int-iret", "", 0, "cycles.busy", 48 + 1),  # test_validation; 1 for the empty bracket
        ("sftp", SFTP, 4096, "net.frames_sent", None),
    ],
)
def test_the_engine_delivers_what_the_disk_does_not_contain(
    own_lab, debian, tmp_path, name, parameters, phase, event, expected
):
    card = '"net.card" = "ne2000"' if name == "sftp" else ""
    directory = ran(own_lab, tmp_path, SYSTEM, name, parameters, card)
    found = set(all_counts(directory, event, phase))
    assert found == {expected} if expected else min(found) > 0
