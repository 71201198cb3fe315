# SPDX-License-Identifier: MIT
"""`./p5lab annotate`: counts by instruction, and the page."""

import json
import re
from html.parser import HTMLParser

import pytest

import p5lab
from p5lab.api import checkout
from p5lab.cli.main import main
from p5lab.keep import store
from p5lab.present import by_source
from p5stats import attribution

SOURCE = """
static volatile int table[2048];
__attribute__((noinline)) static int sum(void) {
  int s = 0;
  for (int i = 0; i < 2048; i++)
    s += table[i];
  return s;
}
int main(void) {
  return sum();
}
"""
OTHER = SOURCE.replace("    s += table[i];", "    s += 3 * table[i];")


@pytest.fixture
def source(tmp_path):
    path = tmp_path / "sum.c"
    path.write_text(SOURCE)
    return path


def test_instructions_add_up_to_the_lines(own_lab, source, capsys, monkeypatch):
    """The clocks of the instructions of a source line are those that --attribute lines gives."""
    words = ["annotate", str(source), "--function", "sum", "--format", "json"]
    assert main(words, own_lab) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    monkeypatch.setattr(checkout, "here", lambda: own_lab)
    table = p5lab.annotate(source, build=False)
    own = table[table["function"] == "sum"]
    assert own["clocks"].tolist() == [row["clocks"] for row in rows]
    assert own["instruction"].tolist() == [row["instruction"] for row in rows]
    by_line = {}
    for row in rows:
        by_line[row["line"]] = by_line.get(row["line"], 0) + row["clocks"]
    words = ["run", "--program", str(source), "--attribute", "lines", "--cpi", "--quiet", "--json"]
    assert main(words, own_lab) == 0
    (run,) = {row["runs"] for row in json.loads(capsys.readouterr().out)["rows"]}
    stored = next(one for one in store.all_runs(own_lab) if one.id == run)
    frame = attribution.read(stored.directory / "attribution.jsonl").line_frame()
    lines = by_source.by_line(frame, "cycles.busy")
    for line in (5, 6):
        assert by_line[line] == lines[str(source), line]
    # The loop reads one word of memory in each round.
    loads = [row for row in rows if row["line"] == 6]
    assert sum(row["data_read_misses"] for row in loads) >= 2048 // 8
    assert sum(row["times"] for row in loads) >= 2048
    assert {row["in_v"] > 0 for row in rows} == {True, False}


class Page(HTMLParser):
    """What a page contains."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.loaded, self.open = [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.loaded += [value for name, value in attributes if name in ("src", "href")]
        if tag not in ("meta", "link", "br"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_the_page_has_both_versions_with_equal_lines_beside_each_other(
    own_lab, source, tmp_path, capsys
):
    (tmp_path / "new").mkdir()
    other = tmp_path / "new" / "sum.c"
    other.write_text(OTHER)
    page = tmp_path / "page.html"
    assert main(["annotate", str(source), str(other), "--output", str(page)], own_lab) == 0
    assert "new/sum.c" in capsys.readouterr().out
    text = page.read_text()
    found = Page(text)
    assert found.open == [] and found.loaded == []
    assert found.tags.count("details") > 1
    rows = re.findall(r"<tr class=line>(.*?)</tr>", text)
    of_loop = next(row for row in rows if row.count("i &lt; 2048") == 2)
    assert of_loop
    changed = next(row for row in rows if "s += 3 * table[i]" in row)
    assert "s += table[i]" in changed


def test_a_function_of_the_kernel(own_lab, capsys):
    words = ["annotate", "smoke", "--workload", "dup", "--kernel"]
    assert main([*words, "__ia32_sys_dup", "--format", "json"], own_lab) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert rows[0]["instruction"].startswith("push") and rows[0]["times"] == 50
    assert main([*words, "__ia32_sys_dpu"], own_lab) == 2
    assert "__ia32_sys_dup" in capsys.readouterr().err
    assert main(["annotate", "smoke"], own_lab) == 2
    assert "--kernel" in capsys.readouterr().err
