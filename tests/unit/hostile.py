# SPDX-License-Identifier: MIT
"""Two systems with names and outputs that try to break the page of a report."""

import fakelab

from p5lab.describe import experiment
from p5lab.describe.request import Filter
from p5lab.execute.runner import Runner

MARKUP = '</script></style></title><script>document.title="hacked"</script>]]>\'"&amp;<img src=x>'
ESCAPES = "\x1b[31m\x07\u202e"
CALL = """
schema_version = 1
title = "a call"
source = '''%(markup)s'''
bracket = '''%(markup)s'''
operation = '''<b>call</b>'''
phases = { 0 = '''%(markup)s''' }
[parameters]
iterations = { default = 3, minimum = 1, unit = "calls", doc = "calls" }
"""
CHASE = """
schema_version = 1
title = "a chase"
source = "tests"
bracket = "all `loads` of a size"
operation = "load"
operations = "loads"
curve = "bytes"
phases = { 512 = "512 B", 1024 = "1 KB" }
[parameters]
loads = { default = 10, minimum = 1, unit = "loads", doc = "loads" }
placement = { default = "contiguous", choices = ["contiguous", '''%(markup)s'''], doc = "pages" }
"""
EXPERIMENT = """
schema_version = 1
title = '''%(markup)s'''
machines = ["p90-premiere2"]
guests = ["toy", "other"]
seeds = [0, 1]
[[run]]
workload = "call"
[[run]]
workload = "call"
parameters = { iterations = 4 }
[[run]]
workload = "chase"
parameters = { placement = '''%(markup)s''' }
"""
CLAIMS = """
schema_version = 1
[chen95-chase]
source = "chen95 section 4.4"
quantity = '''%(markup)s'''
value = 2
tag = "exact"
unit = "cycles"
role = "predicted"
machine = "p90-premiere2"
[chen95-chase.measure]
experiment = "tests"
guest = "toy"
workload = "chase"
phases = ["512 B"]
count = ["cycles.busy"]
per = ["loads"]
[chen95-end]
source = "chen95 section 4.4"
quantity = "largest array in L1"
value = 8
tag = "exact"
unit = "KB"
role = "input"
machine = "p90-premiere2"
keys = ["l1d.size"]
[chen95-video]
source = "chen95 section 3.1"
quantity = "video memory"
value = 2
tag = "exact"
unit = "MB"
role = "untestable"
machine = "p90-premiere2"
reason = '''%(markup)s'''
"""


def make(lab: fakelab.FakeLab) -> fakelab.FakeLab:
    """Runs all workloads on both guests. The second guest is slower, and one of its runs of `chase`
    has failed.
    """
    texts = {"markup": MARKUP + "\\u001b"}
    lab.describe("call", CALL % texts)
    lab.describe("chase", CHASE % texts)
    lab._put("configs/experiments/tests.toml", EXPERIMENT % texts)
    lab._put("configs/claims.toml", CLAIMS % texts)
    lab._put(
        "guest-images/other/guest.toml",
        'schema_version = 1\nname = "other"\nbase = "toy"\ntitle = "slower"\n',
    )
    machine = lab.machines / "p90-premiere2.toml"
    text = machine.read_text().replace(
        'title = "Pentium 90', "title = \"<script>alert('9')</script>"
    )
    machine.write_text(text.replace("# chen95: direct-mapped", f"# chen95: {MARKUP}"))
    Runner(lab).run_all(experiment.load(lab, "tests", Filter(guests=("toy",))))
    lab.behave(events={"call": fakelab.call_events(more=990), "chase": fakelab.chase_events()})
    Runner(lab).run_all(experiment.load(lab, "tests", Filter(guests=("other",), seeds=(0,))))
    lab.behave(exit=1, serial=f"Kernel panic: {MARKUP}{ESCAPES}\n")
    Runner(lab).run_all(
        experiment.load(lab, "tests", Filter(guests=("other",), seeds=(1,), workloads=("chase",)))
    )
    return lab
