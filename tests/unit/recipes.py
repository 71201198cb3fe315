# SPDX-License-Identifier: MIT
"""Recipes: how to add one extension of each kind to a checkout, and how to check that it works.

tests/unit/test_extending.py follows the recipes in copies of the checkout. The test compares the
changed files and lines with the table of docs/extend/README.md.
"""

import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from fakelab import REPO

from p5lab.describe import guest, machine, workload
from p5lab.lab import Lab

TEMPLATES = REPO / "docs/extend/templates"
OF_TESTS = REPO / "tests/templates"
MY_SCONSCRIPT = """Import("env")
env.linux_guest("my-guest", "", [], {"/init": "build/workloads/linux/init"})
"""


@dataclass(frozen=True)
class Recipe:
    """`name` is the name of the new directory or file. `add` adds the extension to the checkout at
    the given path. `check` asserts that the extension is there.
    """

    name: str
    add: Callable[[Path], None]
    check: Callable[[Lab], None]


def planned(lab, *targets):
    """Returns the products that SCons would make for these targets. Makes no product."""
    done = subprocess.run(
        [sys.executable, "-m", "SCons", "-Q", "-n", *targets],
        cwd=lab.root,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("  ")]
    return {line.rsplit(None, 1)[1] for line in lines}


def python(root, *arguments, **variables):
    """Returns the output of Python with the packages of the given checkout, not of this one."""
    done = subprocess.run(
        [sys.executable, *arguments],
        cwd=root,
        env={
            "PYTHONPATH": f"{root}/src:{root}/stats-parsers",
            "PATH": "/usr/bin:/bin",
            **variables,
        },
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


DOCTEST = REPO / "build/tests/include"  # the C++ test framework
DOCTEST_MAIN = REPO / "build/obj/tests/cases/main.o"


def compiled_and_run(root, sources, includes=(), options=()):
    """Returns the output of a C++ program. The program is compiled from files of the given
    checkout, and from the sources that the checkout's declarations generate.
    """
    generated = root / "build/generated"
    generated.mkdir(parents=True)
    python(root, "tools/declare.py", "engine", str(generated))
    program = generated / "test"
    folders = [root, root / "engine", generated, DOCTEST]
    flags = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"]
    files = [*sources, *(generated.glob("*.cc") if includes else ())]
    compiled = subprocess.run(
        [
            "g++",
            *flags,
            *(f"-I{one}" for one in folders),
            "-o",
            program,
            *map(str, files),
            *options,
        ],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert compiled.returncode == 0, compiled.stderr
    ran = subprocess.run([program], cwd=root, capture_output=True, text=True)
    assert ran.returncode == 0, ran.stdout
    return ran.stdout


def add_policy(root):
    """Adds the replacement policy of section 3 of the tutorial."""
    text = (root / "docs/start/tutorial.md").read_text()
    files = re.findall(r"^```\w+ file=(engine/\S+)\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert len(files) == 2
    for name, content in files:
        (root / name).parent.mkdir(exist_ok=True)
        (root / name).write_text(content)


CACHE = ("engine/p5/cache.cc", "engine/p5/replacement.cc")
MRU = """#include <cstdio>
#include "engine/p5/cache.hh"
int main() {
  p5::CacheConfig config;  // one set of two ways
  config.size = 64;
  config.ways = 2;
  config.policy = "mru";
  p5::Cache cache(config);
  for (uint32_t address : {0x00, 0x20, 0x40}) cache.access(address, false);
  for (uint32_t address : {0x00, 0x20, 0x40}) std::printf("%d", cache.holds(address));
}
"""


def check_policy(lab):
    words = ("plan", "smoke", "--workload", "null", "--set", "l1d.replacement=mru")
    assert "l1d.replacement=mru" in python(lab.root, "-m", "p5lab", *words)
    test = lab.root / "build/mru.cc"
    test.parent.mkdir()
    test.write_text(MRU)
    # The cache has replaced the newer of the two lines. With LRU the result would be 011.
    assert compiled_and_run(lab.root, [test, *CACHE]) == "101"


def add_machine(root):
    shutil.copy(TEMPLATES / "machines/my-machine.toml", root / "configs/machines")


def check_machine(lab):
    values = machine.load(lab, "my-machine").values
    assert values["l2.size"] == 512 << 10
    assert values["dram.size"] == machine.load(lab, "p90-premiere2").values["dram.size"]


def add_workload(root):
    shutil.copytree(TEMPLATES / "workloads/my-workload", root / "workloads/micro/my-workload")


def check_workload(lab):
    known = workload.load(lab)
    mine = known["my-workload"]
    for name in ("linux", "linux64", "mach"):
        system = guest.load(lab, name)
        assert system.takes("my-workload", known)
        assert system.why_not(mine, mine.resolve({}, "test")) == ""
    steps = planned(lab, "build/workloads/linux/my-workload", "build/workloads/mach/my-workload")
    assert {f"build/workloads/{place}/my-workload" for place in ("linux", "mach")} <= steps


def add_guest(root):
    """Adds a guest with its own kernel."""
    place = root / "guest-images/my-guest"
    place.mkdir()
    text = (root / "guest-images/linux/guest.toml").read_text()
    text = text.replace('name = "linux"', 'name = "my-guest"')
    (place / "guest.toml").write_text(text.replace("build/guests/linux/", "build/guests/my-guest/"))
    shutil.copy(root / "guest-images/linux64/kernel.config", place)
    (place / "SConscript").write_text(MY_SCONSCRIPT)


def check_guest(lab):
    mine = guest.load(lab, "my-guest")
    assert mine.kernel == lab.root / "build/guests/my-guest/bzImage"
    files = {lab.short(path) for path in mine.files.values()}
    assert len(files) == 3
    assert files <= planned(lab, *files)


def add_observer(root):
    shutil.copytree(OF_TESTS / "paging", root / "engine/observe/paging")


def check_option_and_dimension(root, **variables):
    """The option, the file and the dimension of an observer are available without a build."""
    shown = python(
        root,
        "-c",
        "from p5lab.describe import observation, outputs\n"
        "from p5stats import dimensions\n"
        "print([k.option for k in observation.KINDS if k.option == '--paging'])\n"
        "print(outputs.file('paging'), dimensions.DIMENSIONS['paging'].options)\n"
        "print(dimensions.observers_of(['paging', 'ring'])[0].what)\n",
        **variables,
    )
    assert shown.splitlines() == ["['--paging']", "paging.jsonl --paging", "counts by paging"]


def check_observer(lab):
    """The class registers itself. The program does not observe a model, so it is linked without
    one.
    """
    check_option_and_dimension(lab.root)
    main = lab.root / "build/main.cc"
    main.parent.mkdir(exist_ok=True)
    main.write_text(
        '#include <cstdio>\n#include "observe/observer.hh"\n'
        "int main() {\n"
        "  for (const auto& one : base::registry<observe::Kind>()) std::puts(one.name);\n"
        "}\n"
    )
    sources = [main, *(lab.root / "engine/observe/paging").glob("*.cc")]
    needs = ("-no-pie", "-Wl,--unresolved-symbols=ignore-all")
    assert compiled_and_run(lab.root, sources, options=needs).split() == ["paging"]


def add_device(root):
    shutil.copytree(OF_TESTS / "alarm", root / "engine/devices/alarm")


def check_device(lab):
    """The device's keys and its event are available without a build. The device's own test checks
    its ports, its interrupt, its timer and its event.
    """
    shown = python(
        lab.root,
        "-c",
        "from pathlib import Path\n"
        "from p5lab.describe import declarations\n"
        "from p5stats import declared\n"
        "keys = [k for part in declarations.parts(Path('engine')) for k in part.keys]\n"
        "print([k.name for k in keys if k.name.startswith('alarm.')])\n"
        "events = declared.events(Path('engine')).values()\n"
        "print([e.name for e in events if e.part == 'alarm'])\n",
    )
    assert shown.splitlines() == ["['alarm.present', 'alarm.irq']", "['alarm.rings']"]
    engine = lab.root / "engine"
    if not DOCTEST_MAIN.exists():
        pytest.skip(f"{DOCTEST_MAIN.relative_to(REPO)} is not built: ./p5lab build")
    sources = [
        *(engine / "base").glob("*.cc"),
        *(engine / "devices").glob("*.cc"),
        *(engine / "devices/alarm").glob("*.cc"),
        DOCTEST_MAIN,
    ]
    folders = ("base", "measure", "devices", "devices/scsi", "devices/alarm")
    assert "2 passed" in compiled_and_run(lab.root, sources, folders)


COUNTED_IN = "engine/p5/memory.cc"


def add_event(root):
    """The event of docs/extend/event.md."""
    text = (root / "docs/extend/event.md").read_text()
    declared, counted = re.findall(r"^ +```\S+\n +(.*)\n +```$", text, re.MULTILINE)
    events = root / "engine/p5/events.toml"
    events.write_text(events.read_text().rstrip("\n") + f"\n{declared}\n")
    model = root / COUNTED_IN
    before, head, after = model.read_text().partition("void Memory::device_access(")
    opened, brace, body = after.partition("{\n")
    model.write_text(f"{before}{head}{opened}{brace}  {counted}\n{body}")


SNOOPED = """#include <cstdio>
#include "engine/p5/memory.hh"
int main() {
  p5::MemoryConfig config;
  config.l2.size = 1 << 18;
  p5::Memory memory(config);
  p5::Bank bank;
  for (bool write : {true, false, true}) {
    memory.device_access(0x1000, 32, 0, write, bank);
  }
  std::printf("%d", int(bank.count[p5::SnoopWrites]));
}
"""


def check_event(lab):
    shown = python(
        lab.root,
        "-c",
        "from pathlib import Path\n"
        "from p5stats import declared\n"
        "print(declared.events(Path('engine'))['snoop_writes'].report)",
    )
    assert shown == "snooped writes\n"
    test = lab.root / "build/snooped.cc"
    test.parent.mkdir()
    test.write_text(SNOOPED)
    sources = [test, COUNTED_IN, *CACHE]
    assert compiled_and_run(lab.root, sources) == "2"


def add_engine(root):
    shutil.copy(OF_TESTS / "counter.py", root / "src/p5lab/engines")


def check_engine(lab):
    """test_plugged_in.py tests runs with this engine."""
    (lab.root / "prepared.jsonl").touch()  # the file that the engine needs
    shown = python(lab.root, "-m", "p5lab", "plan", "smoke", "--engine", "counter")
    assert "getpid" in shown
    shown = python(
        lab.root,
        "-c",
        "from p5lab import engines\nfrom p5lab.describe import engine\n"
        "print(engine.names(), engines.get('counter').can.guests)",
    )
    assert "'counter'" in shown and shown.endswith(" ('pentium',)\n")


def add_command(root):
    shutil.copy(OF_TESTS / "ids.py", root / "src/p5lab/cli/commands")


def check_command(lab):
    usage = subprocess.run([lab.root / "p5lab", "--help"], capture_output=True, text=True)
    assert "\n  ids EXPERIMENT     list the ids of an experiment's runs\n" in usage.stdout
    assert "  ./p5lab ids smoke\n" in python(lab.root, "-m", "p5lab", "help", "ids")
    ids = python(lab.root, "-m", "p5lab", "ids", "tests").split()
    assert {lab.short(path.parent) for path in lab.results.rglob("run.json")} == {
        f"results/tests/{name}" for name in ids
    }


def add_view(root):
    shutil.copy(OF_TESTS / "files.py", root / "src/p5lab/cli/views")


def check_view(lab):
    run = next(lab.results.rglob("run.json")).parent
    shown = python(lab.root, "-m", "p5lab", "show", run.name, "--files")
    assert shown.split() == sorted(path.name for path in run.iterdir())


def add_figure(root):
    shutil.copy(OF_TESTS / "sizes.py", root / "src/p5lab/page/run_figures")


def check_figure(lab):
    page = lab.root / "page.html"
    runs = [path.parent.name for path in lab.results.rglob("run.json")]
    python(lab.root, "-m", "p5lab", "report", *runs, "--output", str(page))
    assert "Sizes of the events" in page.read_text()


METRIC = """    Metric(
        "idle CPI",
        "cycles/instruction",
        "idle cycles per instruction",
        lambda c, hz: c.ratio(c["cycles.idle"], c["instructions"]),
        Shown(head="idle\\nCPI", places=at(headline=2.5)),
    ),
"""


def add_metric(root):
    """Adds a metric to the metrics of the memory."""
    path = root / "stats-parsers/p5stats/metrics.py"
    text = path.read_text()
    assert text.count("\n_MEMORY = (\n") == 1
    path.write_text(text.replace("\n_MEMORY = (\n", f"\n_MEMORY = (\n{METRIC}"))


def check_metric(lab):
    shown = python(lab.root, "-m", "p5lab", "show", "tests", "--format", "csv")
    assert "idle CPI" in shown


# The recipes by their names in the table of docs/extend/README.md, in the order of the table.
RECIPES = {
    "a replacement policy": Recipe("mru", add_policy, check_policy),
    "a machine": Recipe("my-machine", add_machine, check_machine),
    "a workload": Recipe("my-workload", add_workload, check_workload),
    "a guest": Recipe("my-guest", add_guest, check_guest),
    "a device with keys and an event": Recipe("alarm", add_device, check_device),
    "an observer with an option and a dimension": Recipe("paging", add_observer, check_observer),
    "an event of the model": Recipe("snoop_writes", add_event, check_event),
    "an engine": Recipe("counter", add_engine, check_engine),
    "a command": Recipe("ids", add_command, check_command),
    "a view of `show`": Recipe("files", add_view, check_view),
    "a figure of the report": Recipe("sizes", add_figure, check_figure),
    "a metric": Recipe("idle CPI", add_metric, check_metric),
}
