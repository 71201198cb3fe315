# SPDX-License-Identifier: MIT
"""A miniature checkout with a script as engine.

The script reads boot.conf and job.conf. It writes events.jsonl in the format of the real engine,
but simulates nothing.
"""

import json
import shutil
import struct
import sys
from pathlib import Path

from p5lab.cli import main as cli
from p5lab.lab import Lab

REPO = Path(__file__).resolve().parents[2]
EVENTS = [
    "cycles.busy",
    "cycles.idle",
    "instructions",
    "data_reads",
    "data_writes",
    "data_read_misses",
    "data_write_misses",
    "code_misses",
    "itlb_misses",
    "dtlb_misses",
    "l2_read_misses",
    "l2_write_misses",
    "segment_loads",
    "hw_interrupts",
    "exceptions",
    "crossings.int",
    "crossings.gate",
    "crossings.far",
    "crossings.iret",
    "crossings.async",
    "cr3_loads.changed",
    "cr3_loads.unchanged",
    "mode_changes.real",
    "mode_changes.v86",
    "mode_changes.16bit",
    "mode_changes.32bit",
]
CLOCK_HZ = 90_000_000
# The cycles in ring 3 that the fixture `results_by_size` adds for each size of the L2. The machine
# itself has 256K.
CYCLES = {"64K": 300, "256K": 100, "1M": 0}
HEADER = {
    "type": "header",
    "schema_version": 1,
    "engine": "bochs",
    "clock_hz": CLOCK_HZ,
    "events": EVENTS,
    "units": ["cycles" if name.startswith("cycles") else "events" for name in EVENTS],
}
END = {"type": "end", "status": "ok", "reason": "", "guest_status": 0, "tsc": 9}

CALL = """
schema_version = 1
title = "a call"
source = "tests"
bracket = "one call"
operation = "call"
phases = { 0 = "call" }
[parameters]
iterations = { default = 3, minimum = 1, unit = "calls", doc = "calls" }
"""
CHASE = """
schema_version = 1
title = "a chase"
source = "tests"
bracket = "all loads of a size"
operation = "load"
operations = "loads"
curve = "bytes"
phases = { 512 = "512 B", 1024 = "1 KB" }
[parameters]
loads = { default = 10, minimum = 1, unit = "loads", doc = "loads" }
size = { default = "1K", minimum = 1, unit = "bytes", doc = "bytes" }
placement = { default = "contiguous", choices = ["contiguous", "guest"], doc = "pages" }
"""
CAPABILITIES = """
schema_version = 1
[capabilities]
contiguous-memory = "memory is scattered"
network-card = "there is no network card"
scsi-disks = "there are no SCSI disks"
network = "there is no network"
proc = "there is no /proc"
"""
PARAMETERS = """
schema_version = 1
[peer]
default = "loopback"
choices = ["loopback", "remote"]
doc = "the other side"
needs = { remote = ["network"] }
"""
GUEST = """
schema_version = 1
name = "toy"
title = "a guest that is not there"
structure = "monolithic"
isa = "pentium"
clock_vector = 48
[boot]
protocol = "linux"
kernel = "build/guests/toy/bzImage"
initramfs = "build/guests/toy/initramfs.cpio"
cmdline = "console=ttyS0 quiet"
[cannot]
impossible = "tests say so"
"""
EXPERIMENT = """
schema_version = 1
title = "tests"
machines = ["p90-premiere2"]
guests = ["toy"]
[[run]]
workload = "call"
[[run]]
workload = "chase"
parameters = { placement = "guest" }
"""
# The script begins as a shell script, because the interpreter's path may contain a space, and a #!
# line does not allow spaces in a path. Tests start it thousands of times, so it imports little.
ENGINE = r"""#!/bin/sh
'''exec' '@python@' -I -S -X utf8 "$0" "$@"
' '''
import _socket, _thread, os, sys, time
here = os.path.dirname(os.path.realpath(__file__)) + "/"
conf = {}
def read(name):
    with open(name) as file:
        return file.read()
def write(name, text, mode="w"):
    with open(name, mode) as file:
        file.write(text)
def configure(name):
    for line in read(name).splitlines():
        key, _, value = line.partition(" = ")
        conf[key] = value
configure("boot.conf")
configure("job.conf")
plan = eval(read(here + "behaviour.json"), {"true": True, "false": False, "null": None})
def ended(pid, answer):
    os.write(answer, b"status %d\n" % os.waitpid(pid, 0)[1])
    os.close(answer)
def end_with(server):
    while os.getppid() == server:
        time.sleep(0.05)
    os._exit(9)
if conf.get("run.serve") == "on":
    write(here + "boots", conf["l2.size"] + "\n", "a")
    time.sleep(plan.get("boot_sleep", 0))
    if "boot_exit" in plan:
        write("serial.log", plan.get("serial", ""))
        print(plan.get("stderr", ""), file=sys.stderr, flush=True)
        os._exit(plan["boot_exit"])
    requests, server = _socket.socket(fileno=0), os.getpid()
    while True:
        directory, sent, _, _ = requests.recvmsg(4096, _socket.CMSG_SPACE(8))
        if not directory:
            os._exit(0)
        answer, lock = (int.from_bytes(sent[0][2][at : at + 4], sys.byteorder) for at in (0, 4))
        pid = os.fork()
        if pid == 0:
            _thread.start_new_thread(end_with, (server,))
            os.chdir(directory)
            os.dup2(os.open("engine.out", os.O_WRONLY | os.O_CREAT), 2)
            break
        os.write(answer, b"pid %d\n" % pid)
        _thread.start_new_thread(ended, (pid, answer))
        os.close(lock)
    configure("job.conf")
for key in ("boot.blob.0", "l2.size", "run.limit_cycles"):
    assert key in conf, key
assert (conf["cpu.isa"] == "x86-64") == os.path.samefile(here + "p5bochs64", sys.argv[0])
for key in (k for k in conf if k.startswith("boot.blob.")):
    address, offset, length, name = conf[key].split(" ", 3)
    assert os.path.getsize(name) >= int(offset, 0) + int(length, 0), key
assert os.path.exists("bochsrc")
if conf["cpu.isa"] != "x86-64":
    assert os.path.exists(conf["run.timing_table"])
write(here + "starts", conf["run.job"] + "\n", "a")
write("serial.log", plan.get("serial", ""))
write("output.log", plan.get("output", ""))
job = conf["run.job"].split()[0]
time.sleep(plan.get("sleep_of", {}).get(job, plan.get("sleep", 0)))
if job in plan["events"]:
    write(conf["run.events"], plan["events"][job] + plan.get("tail", ""))
print(plan.get("stderr", ""), file=sys.stderr)
if "signal" in plan:
    os.kill(os.getpid(), plan["signal"])
if job in plan.get("kills_its_worker", ()):
    os.kill(os.getppid(), 9)
sys.exit(plan.get("exit", 0))
"""


def text(lines):
    """Returns one JSON value on each line."""
    return "".join(json.dumps(line) + "\n" for line in lines)


def written(path, lines):
    """Writes a file with one JSON value on each line. Returns its path."""
    path.write_text(text(lines))
    return path


def interval(tsc, *rings):
    """Returns a line of counts of a file intervals.jsonl."""
    return {"type": "counts", "tsc": tsc, "rings": [list(ring) for ring in rings]}


# The lines of a file intervals.jsonl with three intervals. The last line of counts repeats the line
# before, because the run ended at the end of an interval.
INTERVALS = [
    {
        "type": "header",
        "schema_version": 1,
        "clock_hz": 90_000_000,
        "length": 100,
        "events": ["cycles.busy", "cycles.idle", "instructions", "cpi.pairs", "cpi.code.l2"],
    },
    interval(1000, (0, [700, 300, 400, 600, 100])),
    interval(1100, (0, [760, 310, 440, 620, 140]), (3, [30, 0, 20, 30, 0])),
    interval(1500, (0, [760, 710, 440, 620, 140]), (3, [30, 0, 20, 30, 0])),
    interval(1550, (0, [810, 710, 480, 660, 150]), (3, [30, 0, 20, 30, 0])),
    interval(1550, (0, [810, 710, 480, 660, 150]), (3, [30, 0, 20, 30, 0])),
    {"type": "end"},
]


def snapshot(op, arg, kernel, user, clock_ticks=0, tsc=0):
    """Returns a marker. `kernel` and `user` are the first counts of ring 0 and ring 3, in the order
    of EVENTS.
    """
    return {
        "type": "marker",
        "op": op,
        "arg": arg,
        "tsc": tsc,
        "banks": [[0x1000, 0, kernel], [0x1000, 3, user]],
        "vectors": [[0x1000, 3, "irq", 48, clock_ticks]] if clock_ticks else [],
    }


def call_events(iterations=3, status=0, more=0):
    """Returns empty brackets of 5 cycles and 4 instructions, and then the brackets k = 0, 1, 2 and
    so on. Bracket k has 100 + 10k busy cycles, 60 of them in ring 0, and 40 instructions. The last
    bracket has a clock tick. `more` adds cycles in ring 3.
    """
    lines = [HEADER, snapshot("ready", 0, [500], [])]
    user, kernel, ticks = [1000, 0, 700, 90, 80], [500, 0, 200, 10, 10], 0

    def add(op, arg):
        lines.append(snapshot(op, arg, list(kernel), list(user), ticks))

    for _ in range(3):
        add("begin", 0xFFFFFFFF)
        user[0] += 5
        user[2] += 4
        add("end", 0xFFFFFFFF)
    for number in range(iterations):
        add("begin", 0)
        kernel[0] += 60
        kernel[2] += 20
        kernel[3] += 6
        user[0] += 45 + more + 10 * number
        user[2] += 24
        user[4] += 2
        if number == iterations - 1:
            ticks += 1
        add("end", 0)
    lines.append(snapshot("exit", status, kernel, user, ticks))
    return [*lines, {**END, "guest_status": status}]


def shadow_events():
    """Returns call_events() of two iterations with shadows `a` and `b`. In each bracket, b has one
    more miss in ring 0. b also has some misses before the first bracket.
    """
    lines = call_events(iterations=2)
    names = ["data_read_misses", "dtlb_misses"]
    lines[0] = {
        **HEADER,
        "shadows": ["a", "b"],
        "shadow_events": names,
        "stream_events": ["instructions", "data_reads"],
    }
    for line in lines[1:-1]:
        begins = line["op"] == "begin"
        counts = [[9, 9], [9, 9]] if begins else [[2, 0], [3, 1]]
        line["shadows"] = [[0x1000, 0, counts]]
    return lines


def chase_events():
    """Returns events of two sizes, with 10 loads of 2 cycles and 10 loads of 8 cycles."""
    lines, cycles, reads = [HEADER], 0, 0
    for size, clocks in ((512, 2), (1024, 8)):
        lines.append(snapshot("begin", size, [7], [cycles, 0, reads, reads]))
        cycles += 10 * clocks
        reads += 10
        lines.append(snapshot("end", size, [7], [cycles, 0, reads, reads]))
    return [*lines, END]


def bzimage():
    """Returns a file with the header fields that a boot loader reads, and 4 KB of "kernel"."""
    image = bytearray(3 * 512 + 4096)
    image[0x1F1] = 2
    image[0x202:0x206] = b"HdrS"
    struct.pack_into("<H", image, 0x206, 0x020F)
    struct.pack_into("<H", image, 0x20E, 0x100)
    image[0x300:0x306] = b"6.1.99"
    image[0x211] = 1
    struct.pack_into("<I", image, 0x22C, 0x7FFFFFFF)
    struct.pack_into("<I", image, 0x238, 2047)
    struct.pack_into("<I", image, 0x260, 0x400000)
    image[3 * 512 :] = bytes(range(256)) * 16
    return bytes(image)


class FakeLab(Lab):
    """The miniature checkout. `behave` determines the behaviour of its engine."""

    def behave(self, **plan):
        events = plan.pop("events", {"call": call_events(), "chase": chase_events()})
        texts = {job: text(lines) for job, lines in events.items() if lines is not None}
        self._put(
            "build/engine/behaviour.json", json.dumps({"events": texts, **plan}, ensure_ascii=False)
        )

    def embed(self, **plan):
        """Sets the behaviour like `behave`, but writes the behaviour into the engine file. This is
        necessary for an engine that runs as a copy in another directory.
        """
        self.behave(**plan)
        behaviour = self.root / "build/engine/behaviour.json"
        changes = {'read(here + "behaviour.json")': repr(behaviour.read_text())}
        for name in ("starts", "boots"):
            changes[f'here + "{name}"'] = repr(str(self.engine.parent / name))
        changes['os.path.samefile(here + "p5bochs64", sys.argv[0])'] = "False"
        program = self.engine.read_text()
        for old, new in changes.items():
            assert old in program
            program = program.replace(old, new)
        self.engine.write_text(program)

    def starts(self):
        path = self.root / "build/engine/starts"
        return path.read_text().splitlines() if path.exists() else []

    def boots(self):
        """Returns the L2 sizes of the machines that were booted for forks."""
        path = self.root / "build/engine/boots"
        return path.read_text().splitlines() if path.exists() else []

    def describe(self, workload, text):
        """Adds a workload; returns its description."""
        self._put(f"workloads/micro/{workload}/{workload}.c", "int main(void) { return 0; }")
        return self._put(f"workloads/micro/{workload}/workload.toml", text)

    def run_two_guests(self, slower, more):
        """Runs the tests on `toy` and on a guest that is like it, but `call` takes `more` clocks
        more there."""
        self._put("configs/claims.toml", "schema_version = 1\n")
        text = f'schema_version = 1\nname = "{slower}"\nbase = "toy"\ntitle = "slower"\n'
        self._put(f"guest-images/{slower}/guest.toml", text)
        for guest, clocks in (("toy", 0), (slower, more)):
            self.behave(events={"call": call_events(more=clocks), "chase": chase_events()})
            assert cli.main(["run", "tests", "--no-build", "--guest", guest], self) == 0

    def _put(self, name, content):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path


def make(root: Path) -> FakeLab:
    lab = FakeLab(root)
    shutil.copytree(REPO / "configs/machines", root / "configs/machines")
    for name in ("engine/bochs/bochsrc.in", "engine/p5/timing.csv", "sources.toml"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(REPO / name, root / name)
    lab._put("workloads/capabilities.toml", CAPABILITIES)
    lab._put("workloads/parameters.toml", PARAMETERS)
    lab.describe("call", CALL)
    lab.describe("chase", CHASE)
    lab._put("guest-images/toy/guest.toml", GUEST)
    lab._put("configs/experiments/tests.toml", EXPERIMENT)
    lab._put("build/guests/toy/bzImage", bzimage())
    lab._put("build/guests/toy/initramfs.cpio", b"c" * 5000)
    for name in (
        "engine/bios/BIOS-bochs-latest",
        "engine/bios/vgabios.bin",
        "bootrom/p5boot.rom",
        "disks/formatted.p5disk",
        "workloads/toy/call",
        "workloads/toy/chase",
    ):
        lab._put(f"build/{name}", name)
    for engine in ("p5bochs", "p5bochs64"):
        lab._put(f"build/engine/{engine}", ENGINE.replace("@python@", sys.executable)).chmod(0o755)
    lab.behave()
    return lab
