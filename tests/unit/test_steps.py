# SPDX-License-Identifier: MIT
"""The number of steps of a build and the time that is left, with a clock that the test sets."""

import itertools
from pathlib import Path

import pytest

from p5lab.host import steps
from p5lab.host.steps import BuildStep, Steps, planned

REPO = Path(__file__).resolve().parents[2]
PLAN = """\
scons: Reading SConscript files ...
  Bochs     build/engine/bochs/libbochs.a
  C++       build/obj/engine/p5bochs/p5/cache.cc.o
  zig       build/workloads/linux/getpid
  check ISA build/workloads/linux/getpid
  zig       build/workloads/linux/null
  check ISA build/workloads/linux/null
  kernel    build/guests/linux/bzImage
  kernel    build/guests/linux-uml/linux
  pack      build/guests/linux/initramfs.cpio
scons: `build/bootrom' is up to date.
"""
ENGINE, CACHE, GETPID, NULL, KERNEL, UML, PACK = (
    line.split()[-1] for line in PLAN.splitlines() if line.startswith("  ") and "ISA" not in line
)


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def build(clock):
    return Steps(planned(PLAN.splitlines()), cores=2, clock=clock)


def cost(kind):
    return steps.COSTS[kind].cpu_seconds


def begin(build, product):
    (kind,) = (step.kind for step in build.plan if step.product == product)
    assert build.read(f"  {kind:<9} {product}\n")


def end(build, product, seconds=1.0):
    assert not build.read(f"Command execution time: {product}: {seconds:f} seconds\n")


def test_the_plan_has_each_step_once(build):
    assert [step.product for step in build.plan] == [
        *(ENGINE, CACHE, GETPID, NULL, KERNEL, UML, PACK)
    ]
    assert build.begun == 0
    assert [step.name for step in build.long] == ["kernel linux", "kernel linux-uml", "Bochs"]


def test_steps_are_counted_when_they_begin(build):
    begin(build, GETPID)
    assert build.text().startswith("step 1 of 7, about ")
    assert build.text().endswith("left: zig getpid")
    build.read(f"  check ISA {GETPID}\n")  # a part of the same step
    assert build.begun == 1
    end(build, GETPID)
    assert build.begun == 1
    begin(build, NULL)
    begin(build, CACHE)
    assert build.begun == 3
    assert build.text().endswith("left: C++ cache.cc.o; zig null")


def test_the_long_step_that_runs_is_named_even_if_scons_prints_other_lines(build, clock):
    begin(build, UML)
    clock.now = 60
    begin(build, GETPID)
    end(build, GETPID)
    build.read("scons: `build/workloads/linux' is up to date.\n")
    assert build.text().endswith("left: kernel linux-uml for 60 s")
    assert build.names() == ["kernel linux-uml"]


@pytest.mark.parametrize(
    ("product", "name"),
    [
        ("build/libc/musl/lib/libc.a", "musl"),
        ("build/libc/mach/lib/libc.a", "musl for mach"),
        ("build/guests/linux/vmlinux", "kernel linux"),
    ],
)
def test_steps_of_one_kind_have_different_names(product, name):
    assert BuildStep(name.split()[0], product).name == name


def test_a_step_with_several_products_ends_under_another_name(build, clock):
    begin(build, KERNEL)
    begin(build, GETPID)
    clock.now = 30
    end(build, "build/guests/linux/initramfs.cpio", 0.1)  # too short for the kernel
    assert build.names() == ["kernel linux"]
    end(build, "build/guests/linux/vmlinux", 29.5)
    end(build, "build/symbols/linux/getpid", 30)
    assert build.text().endswith("left: copying products, looking for the next step")
    assert build.begun == 2


def test_products_from_the_cache_say_nothing_about_the_speed(build, clock):
    """The forecast fell to 20 seconds because products were copied at the begin."""
    for product in (ENGINE, KERNEL):
        build.read(f"Retrieved `{product}' from cache\n")
        end(build, product, 0.1)
    clock.now = 10
    rest = cost("C++") + 2 * cost("zig") + cost("kernel") + 0.2
    assert build.left() >= rest / 2
    assert build.begun == 2


def test_the_share_that_a_script_reports_counts(build, clock):
    begin(build, ENGINE)
    clock.now = 20
    before = build.left()
    build.read("engine: compile: 30 of about 300 files\n")
    slow = build.left()
    build.read("engine: compile: 270 of about 300 files\n")
    assert slow > before > build.left()
    assert "Bochs for 20 s, 90% compiled" in build.text()


def test_a_download_is_shown_until_a_step_ends(build):
    begin(build, KERNEL)
    build.read("fetch: downloading linux.deb (139 MB)\n")
    assert build.text().endswith("downloading linux.deb (139 MB)")
    begin(build, GETPID)
    end(build, GETPID)
    assert "downloading" not in build.text()


def test_a_download_that_ended_is_not_shown(build):
    """The step that needs the file may compile it for minutes."""
    begin(build, KERNEL)
    build.read("fetch: downloading linux.deb (139 MB)\n")
    build.read("fetch: downloaded linux.deb\n")
    assert "download" not in build.text()


def test_a_step_outside_of_the_plan_says_nothing_about_the_speed(build, clock):
    """Everything was retrieved, and a step that was not planned ended. The forecast then divided by
    zero.
    """
    for step in build.plan:
        build.read(f"Retrieved `{step.product}' from cache\n")
    build.read("  zig       build/workloads/linux/dup\n")
    clock.now = 5
    end(build, "build/workloads/linux/dup", 5.0)
    assert build.left() == 0


def test_the_forecast_is_the_work_divided_by_the_cores(build):
    work = cost("Bochs") + cost("C++") + 2 * cost("zig") + 2 * cost("kernel") + 0.2
    assert build.left() == pytest.approx(work / 2)


@pytest.mark.parametrize("speed", [0.25, 1.0, 2.0])
def test_the_forecast_follows_the_speed_of_this_host(build, clock, speed):
    """The host executes `speed` times the expected work. In the middle of the build, the expected
    rest differs from the true rest by less than a third. At the end there is no rest."""
    remaining = []
    for product in (ENGINE, CACHE, GETPID, NULL, KERNEL):
        (one,) = (step.cost for step in build.plan if step.product == product)
        begin(build, product)
        clock.now += one.cpu_seconds / (2 if one.is_parallel else 1) / speed
        end(build, product)
        remaining.append(build.left())
    truth = (cost("kernel") + 0.2) / 2 / speed
    assert remaining == sorted(remaining, reverse=True) or speed < 1
    assert remaining[-1] == pytest.approx(truth, rel=0.34)
    for product in (UML, PACK):
        begin(build, product)
        clock.now += cost("kernel") / 2 / speed
        end(build, product)
    assert build.left() == 0


def test_a_step_that_takes_longer_than_expected_is_never_nearly_done(build, clock):
    """A forecast of 3 minutes must not stay at 3 minutes, and not fall to 0, while a kernel takes
    10 minutes."""
    for product in (ENGINE, CACHE, GETPID, NULL, UML, PACK):
        begin(build, product)
        clock.now += cost("kernel") / 2 if product == UML else 10
        end(build, product)
    begin(build, KERNEL)
    lefts = []
    for _ in range(20):
        clock.now += 60
        lefts.append(build.left())
    assert min(lefts) > 5
    assert len({round(left) for left in lefts}) > 5


def test_steps_share_the_cores(build, clock):
    """A kernel starts two compilers. Beside a program it gets two thirds of two cores."""
    begin(build, KERNEL)
    before = build.left()
    clock.now = 60
    alone = build.left()
    assert before - alone == pytest.approx(60)
    begin(build, GETPID)
    clock.now = 60.3
    assert alone - build.left() == pytest.approx(0.3)
    assert build.left() == pytest.approx(
        before - 60 - (0.4 + cost("zig") * min(0.2 / cost("zig"), steps.MOST)) / 2
    )


def began(log):
    """Returns the times at which steps began: the step number is known every 30 seconds."""
    times = {}
    for (since, first), (until, last) in itertools.pairwise(log):
        for number in range(first, last):
            times[number] = since + (until - since) * (number - first) / (last - first)
    return times


# A build from nothing on two quiet cores on 2026-11-23, as its log shows it: seconds, step number.
# The engine (step 1) took 61 s, the kernel (step 109) 340 s, musl 99 s and busybox 64 s.
FIRST = [(0, 2), (30, 21), (60, 43), (89, 109)]
PROGRAMS = [
    *((89, 110), (124, 111), (150, 117), (180, 126), (210, 136), (240, 145), (270, 153)),
    *((300, 162), (328, 173)),
]
SECONDS = 491


def replayed(build, clock):
    """Yields the true and the expected seconds that are left, every 30 seconds."""
    spans = [(1, 61, ENGINE), (89, 429, KERNEL), (328, 427, "musl"), (427, SECONDS, "busybox")]
    for times, last in ((began(FIRST), 89), (began(PROGRAMS), 328)):
        # Two steps run at the same time. The second one is Bochs or the kernel, if it runs.
        spans += [
            (since, times.get(number + (2 if 61 < since < 89 else 1), last), f"step-{number}")
            for number, since in times.items()
        ]
    events = [(since, "begin", product) for since, _, product in spans]
    events += [(until, "end", product) for _, until, product in spans]
    shown = range(30, SECONDS, 30)
    for when, what, product in sorted([*events, *((when, "show", "") for when in shown)]):
        clock.now = when
        if what == "show":
            yield SECONDS - when, build.left()
        else:
            {"begin": begin, "end": end}[what](build, product)


def test_the_forecast_of_a_build_from_nothing(clock, monkeypatch):
    """The forecast was 3 minutes when 7 minutes were left."""
    # When this log was written, each program was linked twice, and Zig's C library was compiled
    # for the programs, and twice for busybox.
    # There were no precompiled headers.
    monkeypatch.setitem(steps.COSTS, "zig", steps.StepCost(2.2))
    monkeypatch.setitem(steps.COSTS, "C++", steps.StepCost(1.0))
    monkeypatch.setitem(steps.COSTS, "busybox", steps.StepCost(95, is_parallel=True))
    monkeypatch.setitem(steps.COSTS, "musl", steps.StepCost(95, is_parallel=True))
    monkeypatch.setitem(steps.COSTS, "kernel", steps.StepCost(415, is_parallel=True))
    plan = [
        BuildStep("Bochs", ENGINE),
        *(BuildStep("C++" if n > 15 else "declare", f"step-{n}") for n in range(2, 109)),
        BuildStep("kernel", KERNEL),
        BuildStep("zig", "step-110", steps.ZIG_FIRST_SECONDS),
        *(BuildStep("zig", f"step-{n}") for n in range(111, 173)),
        BuildStep("musl", "musl"),
        BuildStep("busybox", "busybox"),
    ]
    forecasts = list(replayed(Steps(plan, cores=2, clock=clock), clock))
    assert len(forecasts) == 16
    for truth, forecast in forecasts:
        assert abs(forecast - truth) < 15 + 0.15 * truth, forecasts


def test_the_first_program_for_x86_64_costs_more(clock):
    without = Steps(planned(PLAN.splitlines(), zig_is_new=True), cores=2, clock=clock)
    assert without.left() == Steps(planned(PLAN.splitlines()), cores=2, clock=clock).left()
    plan = [*PLAN.splitlines(), *(f"  zig       {steps.ZIG_LIBRARY}{name}" for name in "ab")]
    first = Steps(planned(plan, zig_is_new=True), cores=2, clock=clock)
    later = Steps(planned(plan), cores=2, clock=clock)
    assert first.left() - later.left() == pytest.approx(steps.ZIG_FIRST_SECONDS / 2)


def test_a_build_that_only_copies_products_has_no_numbers(clock):
    build = Steps([], cores=2, clock=clock)
    build.read("Retrieved `build/engine/p5bochs' from cache\n")
    end(build, "build/engine/p5bochs")
    assert build.text() == "copying products, looking for the next step"
    assert build.left() == 0


@pytest.mark.parametrize("label", ["Bochs", "kernel", "musl", "busybox", "lwIP", "zig", "rootfs"])
def test_the_kinds_are_those_of_the_build_graph(label):
    """If the build graph renames a kind, the forecast must follow."""
    graphs = [
        *(REPO / "guest-images").rglob("SConscript"),
        *(REPO / place / "SConscript" for place in ("engine", "workloads")),
    ]
    assert any(f'"{label}"' in path.read_text() for path in graphs)
    assert label in steps.COSTS


def test_the_time_left_follows_the_processors_that_the_build_gets(clock):
    """On a host with other work, a build gets less than its cores."""
    cpu = Clock()
    alone = Steps(planned(PLAN.splitlines()), cores=2, clock=clock)
    beside = Steps(planned(PLAN.splitlines()), cores=2, clock=clock, used=cpu)
    assert beside.left() == alone.left()
    for build in (alone, beside):
        begin(build, KERNEL)
        begin(build, UML)
    clock.now, cpu.now = 60.0, 12.0  # a tenth of two processors
    assert 3 * alone.left() < beside.left() < 10 * alone.left()
    clock.now, cpu.now = 600.0, 120.0
    assert beside.left() > 5 * alone.left()


def test_headers_of_the_cache_are_unpacked_before_the_forecast():
    headers = "  unpack    build/engine/bochs/include/bochs.h\n"
    assert Steps(planned([headers])).unpacked == ("build/engine/bochs/include/bochs.h",)
    made = "  Bochs     build/engine/bochs/libbochs.a\n"
    assert Steps(planned([made, headers])).unpacked == ()
