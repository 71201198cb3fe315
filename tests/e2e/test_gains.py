# SPDX-License-Identifier: MIT
"""`./p5lab whatif`: the gains are the differences of runs."""

import json

import pytest

import p5lab
from p5lab.api import checkout
from p5lab.cli.main import main
from p5lab.present import what_if

SOURCE = """
static volatile char bytes[65536];
int main(void) {
  for (int round = 0; round < 4; round++)
    for (int i = 0; i < 65536; i += 4) bytes[i]++;
  return 0;
}
"""
FEW = ("ideal.l2=true", "l1d.write_allocate=true", "dtlb.entries=128")


@pytest.fixture
def few(monkeypatch):
    """Only some of the changes."""
    every = what_if.changes
    monkeypatch.setattr(
        what_if, "changes", lambda board: [one for one in every(board) if one.name in FEW]
    )


def test_gains_are_differences_of_runs(own_lab, tmp_path, capsys, few, monkeypatch):
    source = tmp_path / "bytes.c"
    source.write_text(SOURCE)
    assert main(["whatif", str(source), "--format", "json"], own_lab) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    gains = {row["change"]: row["gain"] for row in rows}
    measured = [row["gain"] for row in rows if row["gain"] is not None]
    assert measured == sorted(measured, reverse=True)
    # 17 pages fit into the 64 entries of the data TLB, so more entries avoid nothing.
    assert gains["dtlb.entries=128"] is None

    def cycles(*settings):
        words = ["run", "--program", str(source), "--quiet", *settings, "--json"]
        assert main(words, own_lab) == 0
        rows = json.loads(capsys.readouterr().out)["rows"]
        return sum(row["value"] for row in rows if row["metric"] in ("busy cycles", "idle cycles"))

    allocated = cycles("--set", "l1d.write_allocate=true")
    assert gains["l1d.write_allocate=true"] == pytest.approx(cycles() - allocated, abs=1)
    monkeypatch.setattr(checkout, "here", lambda: own_lab)
    table = p5lab.whatif(source, build=False)
    assert table.set_index("change")["gain"].dropna().to_dict() == {
        change: gain for change, gain in gains.items() if gain is not None
    }


def test_whatif_needs_one_machine_with_clocks(own_lab, capsys):
    words = ["whatif", "smoke", "--machine", "p90-premiere2", "--machine", "p133-triton"]
    assert main(words, own_lab) == 2
    assert "one machine" in capsys.readouterr().err
    assert main(["whatif", "smoke", "--guest", "linux64"], own_lab) == 2
    assert "clocks" in capsys.readouterr().err
    assert main(["whatif", "nosuch.c"], own_lab) == 2
    assert "nosuch.c" in capsys.readouterr().err
