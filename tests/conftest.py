# SPDX-License-Identifier: MIT
"""The fast set of tests and its time limits (tests/README.md).

`./p5lab test` should take at most 5 minutes on 2 quiet cores after a complete build; the present
time is in README.md. To save time, tests of one file share runs (by a fixture of the module),
and tests with the same guest share boots (by the fixture `boot`, and by the fixture `kept_boots`
for commands). A test of the fast set uses the smallest sizes that are sufficient for its check. The
mark `full` is for tests that use more sizes, or that check a whole document. Such a test runs only
with `./p5lab test --full`. A test that measures time also has the mark `alone`. At the end of a
fast run, pytest lists each test that took longer than BUDGET, including its fixtures.

Test files run in parallel, each in one process. The files in FIRST start first. The other files
start in the order of their names. In the full set, the tests named APART start first. Each of them
may run in another process than its file. These tests take minutes and share nothing.
"""

import gc
import os
import signal
from collections import Counter
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

os.environ["P5LAB_PROGRESS"] = "plain"  # tests read the output from a pipe
os.fsync = lambda file: None  # no test needs its files after a power failure
# In a shell without job control, background processes and their children ignore SIGINT.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # with nohup, it is ignored
FULL = os.environ.get("P5LAB_FULL") == "1"
BUDGET = 15.0  # seconds on a quiet host
# Files that take more than 10 s, so that no process has one of them alone at the end.
FIRST = (
    "test_mach",
    "test_lab",
    "test_typed_commands",
    "test_chen95_core",
    "test_net_workloads",
    "test_cycles",
    "test_file_workloads",
    "test_simpoint",
    "test_sweeps",
    "test_guest_boot",
    "test_exact_totals",
    "test_uml",
    "test_cluster",
    "test_extending",
    "test_build_graph",
)
APART = "test_the_same_a_hundred_thousand_times"
BUILT = os.environ.get("P5LAB_BUILT") == "1"
ROOT = Path(__file__).resolve().parents[1]
os.environ["PYTHONPATH"] = f"{ROOT}/src:{ROOT}/stats-parsers"  # as the launcher sets it
spent = Counter()  # by test


@pytest.fixture(scope="session")
def full():
    """Returns whether the full set runs."""
    return FULL


@pytest.fixture(scope="session")
def built():
    """Returns a function that gives the path of a product of the build.

    If the product is missing, the function skips the test. If the tests run after a build, a
    missing product is an error, and the function fails the test.
    """

    def product(name):
        path = ROOT / name
        if not path.exists():
            reason = f"{name} is not built: ./p5lab build"
            assert not BUILT, reason
            pytest.skip(reason)
        return path

    return product


@pytest.fixture(scope="session")
def complete():
    """Skips the test unless everything has just been built."""
    if not BUILT:
        pytest.skip("only after a complete build, as ./p5lab test makes it")


def pytest_configure(config):
    config.addinivalue_line("markers", "full: only with `./p5lab test --full`")
    config.addinivalue_line("markers", "alone: measures time; no other test runs at the same time")


class Files(LoadFileScheduling):
    """Gives each process whole files, and single tests of the name APART. Every second process
    begins with the unit tests. So few processes run end-to-end tests, and these share their boots.
    """

    def _split_scope(self, nodeid):
        return nodeid if FULL and APART in nodeid else super()._split_scope(nodeid)

    def _assign_work_unit(self, node):
        if self.nodes.index(node) % 2:
            last = next(reversed(self.workqueue))
            unit = (scope for scope in self.workqueue if "/unit/" in scope)
            self.workqueue.move_to_end(next(unit, last), last=False)
        super()._assign_work_unit(node)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    return Files(config, log)


def pytest_collection_modifyitems(items):
    items.sort(key=lambda item: (*FIRST, item.path.stem).index(item.path.stem))
    if FULL:
        items.sort(key=lambda item: APART not in item.name)
    for item in items:
        if item.get_closest_marker("full") and not FULL:
            item.add_marker(pytest.mark.skip(reason="only with --full"))


def pytest_collection_finish():
    """The modules and the tests stay until the end. Otherwise the search for garbage would look
    through them again and again, which takes a twentieth of the time."""
    gc.collect()
    gc.freeze()


def pytest_runtest_logreport(report):
    spent[report.nodeid] += report.duration


def pytest_terminal_summary(terminalreporter):
    slow = [(name, seconds) for name, seconds in spent.most_common() if seconds > BUDGET]
    if slow and not FULL:
        terminalreporter.section(f"took more than {BUDGET:.0f} s in the fast set")
        for name, seconds in slow:
            terminalreporter.write_line(f"{seconds:6.1f} s  {name}")
