# SPDX-License-Identifier: MIT
"""The steps of a build: how many are done, what runs now, and how much time is left.

SCons prints a line when a step begins (SConstruct) and, with --debug=time, a line when a step has
ended. The time left is the cost of the steps that are left, divided by the speed of this build and
by the part of the processors that the build gets beside other programs. The speed follows from the
steps that have ended. Steps that run at the same time share the processors. A step that starts
several compilers at once gets a larger share than a step with one compiler.
"""

import re
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from pathlib import PurePath

from p5lab.duration import roughly
from p5lab.host.processors import cores

# The line of a step: the kind of the step, then the first product.
BEGINS = re.compile(r"^  (?=\S)(.{9}) (\S+)$")
# The line after a step.
ENDS = re.compile(r"^Command execution time: (.+): ([0-9.]+) seconds$")
# Lines of --debug=time that are not for the user.
TIMES = re.compile(
    r"^(Command execution|Total (build|SConscript|SCons|command)\b|SConscript:.* took )"
)
# The line of a product that scons copies from its cache.
RETRIEVED = re.compile(r"^Retrieved `(.+)' from cache$", re.M)
# The progress that the script of a long step prints, and the kind of the step.
FRACTION = re.compile(r"^(?:engine|(\w+)): .*?(\d+) of about (\d+) files$")
CHECK = "check ISA"  # a part of the step that makes the same product


@dataclass(frozen=True)
class StepCost:
    """The cost of one build step: seconds of one core, MB downloaded, MB of disk while it runs.

    The numbers were measured on 2 busy cores with Debian 12 and gcc 12
    (docs/evidence/performance.md). `is_parallel`: whether the step uses all cores.
    """

    cpu_seconds: float
    download_mb: float = 0
    disk_mb: float = 0
    is_parallel: bool = False


# The key is the kind of the step (SConstruct). Steps of all other kinds are short.
COSTS = {
    "Bochs": StepCost(80, 4, 200, is_parallel=True),
    "kernel": StepCost(300, 140, 1500, is_parallel=True),
    "musl": StepCost(50, 1, 60, is_parallel=True),
    "busybox": StepCost(30, 3, 60, is_parallel=True),
    "lwIP": StepCost(6, 1.1, 10),
    "OpenSSL": StepCost(1.5, 15, 20),
    "C++": StepCost(0.7),
    "zig": StepCost(0.5),
    "unpack": StepCost(0.3, 0.2),
    "rootfs": StepCost(6, 0, 400),
}
SHORT = StepCost(0.2)
MAKE_HEADERS = ("Bochs", "lwIP")  # the steps whose archives of headers are unpacked
# The first program for x86-64 compiles Zig's C library into the p5lab cache, with all cores. The
# programs are in this directory.
ZIG_FIRST_SECONDS = 42.0
ZIG_LIBRARY = "build/workloads/linux64/"
LONG_SECONDS = 30  # steps that cost more are named in the forecast
# At the begin, the forecast trusts the costs more than the clock: for this share of the expected
# time, and at most for this number of seconds.
TRUST_SHARE, TRUST_SECONDS = 0.1, 45
SETTLED_SECONDS = 10  # after this time, the measured part of the processors counts as much as all
LOOK_SECONDS = 0.5  # between two looks at the processor time, which read all of /proc
CLOCK_SECONDS = 5  # the greatest difference between our clock and the duration that scons prints
MOST = 0.95  # of the cost of a step that has not ended


@dataclass(frozen=True)
class BuildStep:
    """One step: its kind, its first product, and the seconds of one core that it needs in addition
    to the cost of its kind."""

    kind: str
    product: str
    more: float = 0.0

    @property
    def name(self) -> str:
        """The name for the user: the kind and the product, such as `kernel linux`."""
        path = PurePath(self.product)
        if self.kind == "kernel":
            return f"{self.kind} {path.parent.name or path.name}"
        if self.kind == "musl" and "musl" not in path.parts:
            return f"{self.kind} for {path.parts[2]}"
        if self.kind in ("Bochs", "musl", "busybox", "lwIP"):
            return self.kind
        return f"{self.kind} {path.name}"

    @property
    def cost(self) -> StepCost:
        """The expected cost."""
        cost = COSTS.get(self.kind, SHORT)
        is_parallel = cost.is_parallel or self.more > 0
        return replace(cost, cpu_seconds=cost.cpu_seconds + self.more, is_parallel=is_parallel)


def planned(lines: Iterable[str], *, zig_is_new: bool = False) -> list[BuildStep]:
    """The steps in the output of `scons -n`, each once. `zig_is_new`: the first program for x86-64
    also compiles Zig's C library."""
    by_product: dict[str, BuildStep] = {}
    for line in lines:
        step = _begun(line)
        if step and step.kind != CHECK:
            by_product.setdefault(step.product, step)
    steps = list(by_product.values())
    uses = (number for number, step in enumerate(steps) if step.product.startswith(ZIG_LIBRARY))
    first = next(uses, None)
    if zig_is_new and first is not None:
        steps[first] = replace(steps[first], more=ZIG_FIRST_SECONDS)
    return steps


def _begun(line: str) -> BuildStep | None:
    match = BEGINS.match(line.rstrip())
    return BuildStep(match[1].strip(), match[2]) if match else None


@dataclass
class _Running:
    step: BuildStep
    since: float
    share: float = 0.0  # of the work, as the step reports it
    got: float = 0.0  # seconds of one core that the step has used, by the model of _advance

    def progress(self, speed: float) -> float:
        """The processor seconds of the cost that are done, if the host executes `speed` expected
        processor seconds in a second of one core."""
        cost = self.step.cost.cpu_seconds
        return min(cost * self.share if self.share else self.got * speed, cost * MOST)


@dataclass
class Steps:
    """The state of a build. `plan`: the steps that scons will execute. `cores`: the number of
    processors. `clock`: a monotonic clock in seconds. `used`: the processor seconds that the build
    has used; without it, the build has the processors for itself."""

    plan: list[BuildStep]
    cores: int = field(default_factory=cores)
    clock: Callable[[], float] = time.monotonic
    used: Callable[[], float] | None = None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()
        self._begin = self._now = self.clock()
        self._cpu, self._looked = 0.0, self._begin - LOOK_SECONDS
        self._running: dict[str, _Running] = {}
        self._retrieved: set[str] = set()
        self._said = ""
        self._known = {step.product: step for step in self.plan}
        self._left = {step.product: step.cost.cpu_seconds for step in self.plan}
        # Of the planned steps that have ended: the expected processor seconds, and the seconds of
        # one core that the steps have used.
        self._ended, self._used = 0.0, 0.0

    @property
    def unpacked(self) -> tuple[str, ...]:
        """The products of the steps that only unpack what is in the cache already. Empty if an
        archive of headers must be made first."""
        if any(step.kind in MAKE_HEADERS for step in self.plan):
            return ()
        return tuple(step.product for step in self.plan if step.kind == "unpack")

    @property
    def long(self) -> list[BuildStep]:
        """The long steps, the longest first."""
        steps = [step for step in self.plan if step.cost.cpu_seconds >= LONG_SECONDS]
        return sorted(steps, key=lambda step: -step.cost.cpu_seconds)

    def read(self, line: str) -> bool:
        """Reads one line that scons printed. Returns whether the line is for the log."""
        with self._lock:
            if match := ENDS.match(line):
                self._end(match[1], float(match[2]))
            elif match := RETRIEVED.match(line):
                # The step is not executed, so it says nothing about the speed of this host.
                self._retrieved.add(match[1])
                self._left.pop(match[1], None)
            elif step := _begun(line):
                if step.kind != CHECK:
                    known = self._known.get(step.product, step)
                    self._advance()
                    self._running[step.product] = _Running(known, self._now)
            else:
                self._note(line.strip())
        return not TIMES.match(line)

    def _end(self, product: str, seconds: float) -> None:
        """Ends the step that makes `product` and took `seconds`. For a step with several products,
        scons may name another product than at the begin, in the same directory or with the same
        name."""
        self._said = ""
        self._advance()
        if product not in self._running:
            path, now = PurePath(product), self._now
            near = {
                abs(now - active.since - seconds): name
                for name, active in self._running.items()
                if PurePath(name).parent == path.parent or PurePath(name).name == path.name
            }
            if product in (*self._known, *self._retrieved) or not near:
                return
            if min(near) > CLOCK_SECONDS:
                return
            product = near[min(near)]
        active = self._running.pop(product)
        if product in self._left:
            self._used += active.got
            self._ended += self._left.pop(product)

    def _advance(self) -> None:
        """Distributes the time since the last call to the running steps. A step with one compiler
        uses at most one core. If there are more compilers than cores, each gets an equal share."""
        now = self.clock()
        passed, self._now = now - self._now, now
        compilers = {
            product: self.cores if active.step.cost.is_parallel else 1
            for product, active in self._running.items()
        }
        number_of_all = sum(compilers.values())
        spent = passed * min(number_of_all, self.cores)
        if self.used and now - self._looked < LOOK_SECONDS:
            spent = 0.0  # the next look has it
        elif self.used:
            self._looked = now
            # The time of a process that ends may be counted later than it passes.
            cpu = max(self.used(), self._cpu)
            spent, self._cpu = cpu - self._cpu, cpu
        for product, number in compilers.items():
            self._running[product].got += spent * number / number_of_all

    def _note(self, line: str) -> None:
        if match := FRACTION.match(line):
            kind = match[1] or "Bochs"
            for active in self._running.values():
                if active.step.kind == kind:
                    active.share = int(match[2]) / max(int(match[3]), 1)
        elif line.startswith("fetch: "):
            said = line.removeprefix("fetch: ")
            self._said = "" if said.startswith("downloaded ") else said

    def left(self) -> float:
        """Returns the expected seconds until the end of the build."""
        with self._lock:
            return self._seconds_left()

    def _seconds_left(self) -> float:
        self._advance()
        planned = [active for product, active in self._running.items() if product in self._left]
        speed = self._speed(planned)
        left = sum(self._left.values()) - sum(active.progress(speed) for active in planned)
        return left / self._processors() / speed

    def _processors(self) -> float:
        """The processor seconds that the build gets in a second. A build has all processors until
        it is seen that it has not."""
        passed = self._now - self._begin
        if not self.used or not self._cpu:
            return self.cores
        trusted = SETTLED_SECONDS * self.cores
        return min(self.cores, (self._cpu + trusted) / (passed + SETTLED_SECONDS))

    def _speed(self, running: list[_Running]) -> float:
        """The expected processor seconds that this host executes in a second of one core.

        A running step counts if it reports its share, or if it has used more than its cost.
        """
        total = self._ended + sum(self._left.values())
        trusted = min(TRUST_SECONDS * self.cores, TRUST_SHARE * total)
        ended, used = self._ended + trusted, self._used + trusted
        for active in running:
            speed = ended / max(used, 1e-9)
            if active.share or active.got * speed > active.step.cost.cpu_seconds * MOST:
                ended, used = ended + active.progress(speed), used + active.got
        return ended / used if used else 1.0

    @property
    def begun(self) -> int:
        """The number of planned steps that have begun."""
        with self._lock:
            running = sum(product in self._left for product in self._running)
            return len(self.plan) - len(self._left) + running

    def text(self) -> str:
        """Returns the state as one line: step n of m, the time left, the steps that run now."""
        now = "; ".join(self.running()) or "copying products, looking for the next step"
        if not self.plan:
            return now
        left = roughly(self.left())
        return f"step {self.begun} of {len(self.plan)}, about {left} left: {now}"

    def names(self) -> list[str]:
        """Returns the names of the long steps that run now."""
        with self._lock:
            steps = [active.step for active in self._running.values()]
        return [step.name for step in steps if step.cost.cpu_seconds >= LONG_SECONDS]

    def running(self) -> list[str]:
        """Returns the steps that run now, the most expensive first. For a long step, the text
        contains the time since its beginning and the share that is compiled."""
        with self._lock:
            now = self.clock()
            steps = sorted(self._running.values(), key=lambda active: -active.step.cost.cpu_seconds)
            shown = [_shown(active, now - active.since) for active in steps]
            return [*shown, self._said] if self._said else shown


def _shown(active: _Running, seconds: float) -> str:
    if active.step.cost.cpu_seconds < LONG_SECONDS:
        return active.step.name
    share = f", {active.share:.0%} compiled" if active.share else ""
    return f"{active.step.name} for {seconds:.0f} s{share}"
