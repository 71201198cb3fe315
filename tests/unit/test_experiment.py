# SPDX-License-Identifier: MIT
"""Files of guests, workloads and experiments: how an experiment expands to runs, and how the
readers refuse wrong names and types.
"""

from dataclasses import replace

import pytest
from fakelab import CALL, CHASE, EXPERIMENT, GUEST, REPO

from p5lab.describe import experiment, experiment_file, guest, seeds, workload
from p5lab.describe.observation import Observation, Trace
from p5lab.describe.request import Filter
from p5lab.errors import UserError
from p5lab.lab import Lab


def with_experiment(lab, text, choice=None):
    (lab.experiments / "tests.toml").write_text(text)
    return experiment.load(lab, "tests", choice)


def test_runs_in_file_order_with_all_parameters(lab):
    call, chase = experiment.load(lab, "tests")
    assert call.job == "call iterations=3"
    assert chase.job == "chase loads=10 size=1024 placement=guest"
    assert chase.label == "chase guest, toy, p90-premiere2"
    assert call.limit_cycles == experiment_file.LIMIT_SECONDS * 90_000_000


def test_overlays_multiply(lab):
    text = EXPERIMENT.replace(
        'guests = ["toy"]\n', 'guests = ["toy"]\nset = { dram.size = "16M" }\n'
    )
    text += '[[overlay]]\nset = { l2.size = "128K" }\n[[overlay]]\nset = { "l2.size" = "512K" }\n'
    runs = with_experiment(lab, text)
    assert [run.machine.geometry for run in runs[::2]] == [
        "dram.size=16777216 l2.size=131072",
        "dram.size=16777216 l2.size=524288",
    ]


def test_a_run_has_settings_of_its_own_between_the_overlays_and_the_command_line(lab):
    text = EXPERIMENT.replace(
        'guests = ["toy"]\n', 'guests = ["toy"]\nset = { dram.size = "16M", l2.size = "128K" }\n'
    )
    text = text.replace('workload = "chase"\n', 'workload = "chase"\nset = { l2.size = "1M" }\n')
    common = "dram.size=16777216"
    runs = with_experiment(lab, text)
    assert [run.machine.geometry for run in runs] == [
        f"{common} l2.size=131072",
        f"{common} l2.size=1048576",
    ]
    choice = Filter(settings=(("l2.size", "64K"),))
    assert {run.machine.geometry for run in with_experiment(lab, text, choice)} == {
        f"{common} l2.size=65536"
    }
    with pytest.raises(UserError, match=r"run\[1\]: set: unknown machine key 'l2.sise'"):
        with_experiment(lab, text.replace("set = { l2.size =", "set = { l2.sise ="))


def test_filters(lab):
    settings = (("l2.size", "512K"),)
    runs = experiment.load(
        lab, "tests", Filter(workloads=("chase",), settings=settings, feedback=False)
    )
    assert [run.workload.name for run in runs] == ["chase"]
    assert runs[0].machine.geometry == "l2.size=524288"
    assert runs[0].feedback is False


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"p90-premiere2"', '"p90-premiere"', "unknown machine .*did you mean 'p90-premiere2'"),
        ('"toy"', '"tox"', "unknown guest 'tox'; did you mean 'toy'"),
        ('"call"', '"cal"', r"tests.toml:7: run\[0\]: unknown workload 'cal'; did you mean 'call'"),
        (
            "placement =",
            "placment =",
            "unknown parameter of chase 'placment'; did you mean 'placem",
        ),
        ('"guest" }', '"heap" }', 'placement: expected one of "contiguous", "guest"'),
        ('placement = "guest"', 'loads = "ten"', "loads: expected a whole number of loads"),
        ('placement = "guest"', "loads = 0", "loads: expected .* at least 1; found a whole number"),
        ('placement = "guest"', "loads = true", "loads: expected a whole number"),
        ("title =", "titel =", "unknown key 'titel'; did you mean 'title'"),
        ('guests = ["toy"]', 'guests = "toy"', "guests: expected a list .*, found a text"),
        ('guests = ["toy"]', 'guests = ["toy"]\nseeds = [-1]', "seeds: expected a list of whole"),
        ('guests = ["toy"]', 'guests = ["toy"]\nseeds = [true]', "seeds: expected a list of whole"),
        ('guests = ["toy"]', 'guests = ["toy"]\nseeds = []', "seeds: expected a list of whole"),
        ('guests = ["toy"]', 'guests = ["toy"]\nlimit_seconds = 0', "limit_seconds: expected at"),
        ('guests = ["toy"]', 'guests = ["toy"]\nset = { l2.seze = 1 }', "did you mean 'l2.size'"),
        ("[[run]]\n", "[run]\n", "not valid TOML|run: expected a list"),
    ],
)
def test_wrong_experiments_say_what_and_where(lab, old, new, message):
    with pytest.raises(UserError, match=message):
        with_experiment(lab, EXPERIMENT.replace(old, new, 1))


def test_unknown_experiment(lab):
    with pytest.raises(UserError, match="unknown experiment 'test'; did you mean 'tests'"):
        experiment.load(lab, "test")


def test_seeds_multiply(lab):
    runs = with_experiment(lab, EXPERIMENT.replace("guests =", "seeds = [0, 7, 0]\nguests ="))
    assert [(run.workload.name, run.seed) for run in runs] == [
        ("call", 0),
        ("chase", 0),
        ("call", 7),
        ("chase", 7),
    ]
    assert runs[2].label == "call, toy, p90-premiere2, seed 7"
    assert [run.seed for run in experiment.load(lab, "tests", Filter(seeds=(3,)))] == [3, 3]


def test_the_host_has_one_machine_one_seed_and_each_program_once(lab):
    variant(lab, 'base = "toy"\ntitle = "the same programs"')
    text = EXPERIMENT.replace('["toy"]', '["toy", "toy2"]').replace(
        "guests =", "seeds = [0, 1]\nguests ="
    )
    text += '[[overlay]]\nset = { l2.size = "128K" }\n[[overlay]]\nset = { l2.size = "512K" }\n'
    assert len(with_experiment(lab, text)) == 16
    runs = experiment.load(lab, "tests", Filter(engine="native"))
    assert [(run.label, run.guest.name, run.seed) for run in runs] == [
        ("call, host", "host", 0),
        ("chase guest, host", "host", 0),
    ]


@pytest.mark.parametrize(
    ("option", "choice"),
    [
        ("--seed", {"seeds": (1,)}),
        ("--machine", {"machines": ("p90-premiere2",)}),
        ("--guest", {"guests": ("toy",)}),
        ("--trace", {"observation": Observation.of(Trace(("crossings",)))}),
        ("--feedback", {"feedback": False}),
    ],
)
def test_what_makes_no_sense_on_the_host_is_refused(lab, option, choice):
    with pytest.raises(UserError, match=f"{option}: expected without --engine native"):
        experiment.load(lab, "tests", Filter(engine="native", **choice))


@pytest.mark.parametrize(
    ("text", "expected"),
    [("3", (3,)), ("0,1, 2,1", (0, 1, 2)), ("0-3,9", (0, 1, 2, 3, 9)), ("7-7", (7,))],
)
def test_seeds_of_the_command_line(text, expected):
    assert seeds.parse(text) == expected


@pytest.mark.parametrize("text", ["", "1,", "x", "-1", "3-1", "0-1000", "1.5", "9999999999"])
def test_wrong_seeds_of_the_command_line(text):
    with pytest.raises(UserError, match="--seed: expected at most 1000 whole numbers"):
        seeds.parse(text)


def test_a_guest_that_cannot_run_it_is_not_a_failure(lab):
    variant(lab, 'base = "toy"\ntitle = "less"\n[cannot]\nchase = "no memory to chase in"')
    found = experiment.expand(lab, "tests", Filter(guests=("toy", "toy2")))
    assert [(run.guest.name, run.workload.name) for run in found.runs] == [
        ("toy", "call"),
        ("toy", "chase"),
        ("toy2", "call"),
    ]
    assert list(map(str, found.cannot)) == ["guest toy2 cannot run chase: no memory to chase in"]


def test_a_guest_can_lack_one_form_of_a_workload(lab):
    """`workload parameter=value|value` excludes only these values of the parameter. All other
    values run.
    """
    for form, run in (("contiguous", ["call", "chase"]), ("contiguous|guest", ["call"])):
        less = f'base = "toy"\ntitle = "less"\n[cannot]\n"chase placement={form}" = "no such pages"'
        variant(lab, less)
        found = experiment.expand(lab, "tests", Filter(guests=("toy2",)))
        assert [one.workload.name for one in found.runs] == run
    assert list(map(str, found.cannot)) == ["guest toy2 cannot run chase: no such pages"]


MULTIBOOT = """\
schema_version = 1
name = "toy2"
title = "modules"
structure = "microkernel"
isa = "pentium"
clock_vector = 32
[boot]
protocol = "multiboot"
kernel = "build/guests/toy2/kernel"
modules = ["build/guests/toy2/server  a b", "build/guests/toy2/data"]
cmdline = ""
"""


def test_a_multiboot_guest_has_modules(lab):
    path = lab.guests / "toy2/guest.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(MULTIBOOT)
    found = guest.load(lab, "toy2")
    place = lab.root / "build/guests/toy2"
    assert found.modules == ((place / "server", "server a b"), (place / "data", "data"))
    assert found.files == {
        "kernel": place / "kernel",
        "module0": place / "server",
        "module1": place / "data",
    }
    assert found.record == place / "guest.json"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("modules = [", "modules = [] # ", "a multiboot kernel needs modules"),
        ('"multiboot"', '"linux"', "modules: expected only for a multiboot kernel"),
        ("a b", "a\\n b", "modules: expected printable ASCII"),
        ('cmdline = ""', 'cmdline = ""\ninitramfs = "x"', "a multiboot kernel needs modules"),
    ],
)
def test_wrong_modules_say_what_and_where(lab, old, new, message):
    path = lab.guests / "toy2/guest.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(MULTIBOOT.replace(old, new, 1))
    with pytest.raises(UserError, match=message):
        guest.load(lab, "toy2")


def test_a_guest_that_cannot_do_anything_asked_is_bad_input(lab):
    variant(lab, 'base = "toy"\ntitle = "less"\n[cannot]\nchase = "no memory to chase in"')
    with pytest.raises(UserError, match="guest toy2 cannot run chase: no memory to chase in"):
        experiment.expand(lab, "tests", Filter(guests=("toy2",), workloads=("chase",)))


def test_a_guest_that_needs_more_instructions_is_refused(lab):
    path = lab.guests / "toy/guest.toml"
    path.write_text(GUEST.replace('isa = "pentium"', 'isa = "pentium+cmov"'))
    smaller = Filter(settings=(("cpu.isa", "pentium"),))
    with pytest.raises(UserError, match=r"needs cpu.isa 'pentium\+cmov'"):
        experiment.load(lab, "tests", smaller)
    brings = experiment.load(lab, "tests")
    assert {run.machine.values["cpu.isa"] for run in brings} == {"pentium+cmov"}


def test_a_guest_of_x86_64_brings_its_processor(lab):
    path = lab.guests / "toy/guest.toml"
    path.write_text(GUEST.replace('isa = "pentium"', 'isa = "x86-64"'))
    run = experiment.load(lab, "tests", Filter(settings=(("l2.size", "512K"),)))[0]
    assert run.machine.values["cpu.isa"] == "x86-64"
    assert run.machine.geometry == "l2.size=524288"  # a user need not set this
    assert "toy" in run.machine.sources["cpu.isa"]
    assert not run.has_clocks
    assert replace(run, engine="gem5").has_clocks

    with pytest.raises(UserError, match=r"needs cpu.isa 'x86-64'; machine .* has 'pentium'"):
        experiment.load(lab, "tests", Filter(settings=(("cpu.isa", "pentium"),)))
    path.write_text(GUEST)
    with pytest.raises(UserError, match=r"needs cpu.isa 'pentium'; machine .* has 'x86-64'"):
        experiment.load(lab, "tests", Filter(settings=(("cpu.isa", "x86-64"),)))


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("clock_vector = 48", "clock_vector = 300", "clock_vector: expected a vector"),
        ("clock_vector = 48", 'clock_vector = "48"', "clock_vector: expected a whole number"),
        ('structure = "monolithic"', 'structure = "big"', 'structure: expected "monolithic" or'),
        ("cmdline", "cmd", "unknown key 'cmd'; did you mean 'cmdline'"),
        ("console=", "console=\\n", "cmdline: expected printable ASCII"),
        ('name = "toy"', 'name = "joy"', 'name: expected "toy"'),
        ("[boot]", '[boot]\nscreen = "640x480"', 'screen: expected "640x480x8" or'),
    ],
)
def test_wrong_guests_say_what_and_where(lab, old, new, message):
    (lab.guests / "toy/guest.toml").write_text(GUEST.replace(old, new, 1))
    with pytest.raises(UserError, match=message):
        guest.load(lab, "toy")


def variant(lab, text, name="toy2"):
    path = lab.guests / name / "guest.toml"
    path.parent.mkdir(exist_ok=True)
    path.write_text(f'schema_version = 1\nname = "{name}"\n{text}')


def test_a_variant_has_what_its_base_has_but_for_its_own_keys(lab):
    base = guest.load(lab, "toy")
    assert (base.programs, base.disk, set(base.files)) == ("toy", None, {"kernel", "initramfs"})
    variant(lab, 'base = "toy"\ntitle = "second"')
    assert guest.load(lab, "toy2") == replace(base, name="toy2", title="second")
    variant(
        lab,
        """base = "toy"
title = "second"
structure = "server"
clock_vector = 49
programs = "others"
[boot]
disk = "build/guests/toy2/disk.img"
kernel = "other"
cmdline = "quiet"
[cannot]
call = "no calls"
""",
    )
    other = guest.load(lab, "toy2")
    assert other == replace(
        base,
        name="toy2",
        title="second",
        structure="server",
        clock_vector=49,
        programs="others",
        disk=lab.root / "build/guests/toy2/disk.img",
        kernel=lab.root / "other",
        cmdline="quiet",
        cannot={"impossible": "tests say so", "call": "no calls"},
    )
    assert other.files["disk"] == other.disk


def test_a_variant_of_a_variant_changes_words_of_the_command_line(lab):
    change = """title = "less"
[boot]
cmdline_remove = ["quiet"]
cmdline_add = ["loglevel=7", "nokaslr"]
"""
    variant(lab, f'base = "toy"\n{change}')
    assert guest.load(lab, "toy2").cmdline == "console=ttyS0 loglevel=7 nokaslr"
    variant(lab, 'base = "toy2"\ntitle = "even less"\n[boot]\ncmdline_remove = ["nokaslr"]', "toy3")
    third = guest.load(lab, "toy3")
    assert (third.cmdline, third.programs) == ("console=ttyS0 loglevel=7", "toy")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('base = "tox"\ntitle = ""', "toy2/guest.toml:3: base: unknown guest 'tox'; did you mean"),
        ('base = "toy"', "toy2/guest.toml: missing key 'title'"),
        ('base = "toy2"\ntitle = ""', "base: 'toy2' is itself a variant of 'toy2'"),
        ('base = "toy"\ntitle = ""\n[boot]\ncmdline_ad = []', "did you mean 'cmdline_add'"),
        ('base = "toy"\ntitle = ""\n[boot]\ncmdline_add = "a"', "cmdline_add: expected a list"),
        (
            'base = "toy"\ntitle = ""\n[boot]\ncmdline_remove = ["quite"]',
            "boot: cmdline_remove: unknown word 'quite'; did you mean 'quiet'",
        ),
        (
            'base = "toy"\ntitle = ""\n[boot]\ncmdline = "a"\ncmdline_add = ["b"]',
            "boot: cmdline_add: expected without cmdline, which replaces all",
        ),
        ('base = "toy"\ntitle = ""\nstructure = "big"', "toy2/guest.toml:5: structure: expected"),
    ],
)
def test_wrong_variants_say_what_and_where(lab, text, message):
    variant(lab, text)
    with pytest.raises(UserError, match=message):
        guest.load(lab, "toy2")


def test_a_base_that_is_wrong_or_a_circle_is_named(lab):
    variant(lab, 'base = "toy"\ntitle = ""')
    (lab.guests / "toy/guest.toml").write_text(GUEST.replace('"monolithic"', '"big"'))
    with pytest.raises(UserError, match=r"toy/guest\.toml:5: structure: expected"):
        guest.load(lab, "toy2")
    variant(lab, 'base = "toy2"\ntitle = ""', "toy")
    with pytest.raises(
        UserError, match=r"toy/guest\.toml:3: base: 'toy2' is itself a variant of 'to"
    ):
        guest.load(lab, "toy2")


def test_only_a_variant_can_change_words(lab):
    (lab.guests / "toy/guest.toml").write_text(
        GUEST.replace("cmdline", "cmdline_add = []\ncmdline")
    )
    with pytest.raises(UserError, match="unknown key 'cmdline_add'"):
        guest.load(lab, "toy")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'operations = "loads"',
            'operations = "load"',
            "operations: expected a number or a numeric",
        ),
        ('operations = "loads"', "operations = 0", "operations: expected at least 1"),
        ('operations = "loads"', "bytes = 0", "bytes: expected at least 1"),
        ("{ 0 =", "{ a =", "phases: expected phase ids"),
        ("default = 3", "defalt = 3", "unknown key 'defalt'; did you mean 'default'"),
        ("default = 3", 'default = "x"', "default: iterations: expected a whole number"),
    ],
)
def test_wrong_workload_descriptions_say_what_and_where(lab, old, new, message):
    text = CALL if old in CALL else CHASE
    assert old in text
    lab.describe("call" if text is CALL else "chase", text.replace(old, new, 1))
    with pytest.raises(UserError, match=message):
        workload.load(lab)


def test_everything_in_the_repository_loads():
    lab = Lab(REPO)
    assert {"null", "getpid", "dup", "mem-read", "exec-static"} <= set(workload.load(lab))
    assert "linux" in guest.names(lab)
    runs = experiment.load(lab, "smoke")
    assert {run.workload.name for run in runs} == {
        "null",
        "getpid",
        "dup",
        "mem-read",
        "exec-static",
    }
    assert {run.parameters.get("placement") for run in runs} == {None, "contiguous", "guest"}


MISSES = """
schema_version = 1
title = "tests"
events = "misses"
machines = ["p90-premiere2"]
guests = ["toy"]
[[overlay]]
name = "own"
set = {}
[[overlay]]
name = "large"
set = { l2.size = "512K", itlb.entries = 64 }
[[run]]
workload = "call"
"""


def test_overlays_of_misses_are_shadows_of_one_run(lab):
    (run,) = with_experiment(lab, MISSES)
    assert run.machine.geometry == ""
    assert [(shadow.name, shadow.settings) for shadow in run.shadows] == [
        ("own", {}),
        ("large", {"itlb.entries": "64", "l2.size": "524288"}),
    ]
    assert run.feedback


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'l2.size = "512K"',
            "cpu.bus_mhz = 66",
            r"overlay\[1\]: cpu.bus_mhz: expected a key of the geometry of caches and TLBs",
        ),
        ('l2.size = "512K"', "l1d.line = 16", r"overlay\[1\]: l1d.line: expected a key of"),
        ('l2.size = "512K"', "l2.siz = 1", "unknown machine key 'l2.siz'"),
        ('l2.size = "512K"', "l2.size = 3000", "l2.size = 3000: expected 1 way"),
        ('name = "large"', 'name = "own"', r"overlay\[1\]: name: expected a valid name"),
        ('name = "large"', 'name = "a b"', r"overlay\[1\]: name: expected a valid name"),
        ('name = "large"', "", "name"),
        ('"misses"', '"few"', 'events: expected "all" or "misses", found \'few\''),
    ],
)
def test_wrong_geometries_are_refused(lab, old, new, message):
    with pytest.raises(UserError, match=message):
        with_experiment(lab, MISSES.replace(old, new))


def test_a_trace_of_accesses_and_shadows_are_not_for_one_run(lab):
    with pytest.raises(UserError, match='events = "misses" and --trace accesses'):
        with_experiment(lab, MISSES, Filter(observation=Observation.of(Trace(("accesses",)))))


def test_a_workload_that_the_experiment_does_not_run_is_named():
    """Also beside one that it runs."""
    here = Lab(REPO)
    expected = "workload open-close: experiment smoke does not run it; expected one of null, getpid"
    with pytest.raises(UserError, match=f"^{expected}"):
        experiment.expand(here, "smoke", Filter(workloads=("dup", "open-close")))
