# SPDX-License-Identifier: MIT
import json
import shutil

import fakelab
import hostile
import pytest
from hypothesis import HealthCheck, settings

import p5lab as p5lab_functions
from p5lab.api import checkout
from p5lab.cli import main as cli
from p5lab.describe import experiment
from p5lab.describe.machine import load
from p5lab.describe.request import Filter
from p5lab.execute.runner import Runner

# The tests use the same examples at every run, even on a busy host, and store no data between runs.
settings.register_profile(
    "p5lab",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=50,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("p5lab")


@pytest.fixture
def lab(tmp_path):
    """Returns a miniature checkout with a scripted engine (fakelab.py)."""
    return fakelab.make(tmp_path / "lab")


@pytest.fixture
def here(lab, monkeypatch):
    """Returns the miniature checkout, in which the functions of p5lab work."""
    monkeypatch.setattr(checkout, "here", lambda: lab)
    return lab


@pytest.fixture(scope="session")
def swept(tmp_path_factory):
    """Returns the results of a sweep over three sizes of the L2, and its table."""
    lab = fakelab.make(tmp_path_factory.mktemp("swept") / "lab")
    sizes = {"l2.size": ["128K", "256K", "512K"]}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(checkout, "here", lambda: lab)
        return lab.results, p5lab_functions.run("tests", workload="call", sweep=sizes, build=False)


@pytest.fixture
def sweep(here, swept):
    """Returns the table of a sweep over three sizes of the L2, whose results are in `here`."""
    results, table = swept
    shutil.copytree(results, here.results)
    return table.copy()


@pytest.fixture
def p5lab(lab, capsys, monkeypatch):
    """Returns a function that runs one command in the miniature checkout, as on a terminal of
    `columns` characters. The function returns the exit status, stdout and stderr.
    """

    def command(*arguments, columns=120):
        monkeypatch.setenv("COLUMNS", str(columns))
        status = cli.main(list(arguments), lab)
        said = capsys.readouterr()
        return status, said.out, said.err

    return command


@pytest.fixture
def write_attribution(tmp_path):
    """Returns a function that writes records to attribution.jsonl and returns the path."""

    def write(records):
        path = tmp_path / "attribution.jsonl"
        path.write_text("".join(json.dumps(record) + "\n" for record in records))
        return path

    return write


@pytest.fixture(scope="session")
def results_by_size(tmp_path_factory):
    """Returns the results of the miniature checkout for the L2 sizes of fakelab.CYCLES. The run
    with the machine's own size was made without an overlay.

    A test copies these results into its own checkout.
    """
    lab = fakelab.make(tmp_path_factory.mktemp("sizes") / "lab")
    assert load(lab.machines, "p90-premiere2").values["l2.size"] == 256 << 10
    for size, more in fakelab.CYCLES.items():
        call = fakelab.call_events(more=more)
        lab.behave(events={"call": call, "chase": fakelab.chase_events()})
        changed = Filter(settings=() if size == "256K" else (("l2.size", size),))
        done = Runner(lab).run_all(experiment.load(lab, "tests", changed))
        assert [one.status for one in done] == ["ok", "ok"]
    return lab.results


@pytest.fixture(scope="session")
def hostile_page(tmp_path_factory):
    """Returns a laboratory with hostile names and outputs (hostile.py), its page and its exported
    figures.
    """
    lab = hostile.make(fakelab.make(tmp_path_factory.mktemp("page") / "lab"))
    output, export = lab.root / "page.html", lab.root / "figures"
    assert cli.main(["report", "tests", "--output", str(output), "--export", str(export)], lab) == 0
    return lab, output, export


@pytest.fixture
def two(lab, capsys):
    """Two guests: `call` takes twice as long on the second one, `chase` takes the same."""
    lab.run_two_guests("slower", 110)
    capsys.readouterr()
    return lab
