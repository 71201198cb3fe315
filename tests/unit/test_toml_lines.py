# SPDX-License-Identifier: MIT
"""Errors in TOML files name the file, the line and the key."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field

import pytest

from p5lab.cli import main as cli
from p5lab.describe import tomlfile, tomllines
from p5lab.errors import UserError

ALL = """\
schema_version = 1
# a comment with [brackets] and an = sign

title = "a # b"
[l2]
size = "256K"  # bytes
[cache.data]
ways = [
  1,
  2,
]
[[run]]
workload = '''
[not.a.table]
not_a_key = 1
'''
[run.parameters]
loads = 3
[[run]]
l1d.size = 4
[[run.step]]
set = { a = 1, b = { c = 2 } }
[[run.step]]
"a key" = 1
[["x.y".list]]
last = 0
"""


@pytest.mark.parametrize(
    ("place", "line"),
    [
        (("schema_version",), 1),
        (("title",), 4),
        (("l2",), 5),
        (("l2", "size"), 6),
        (("cache", "data"), 7),
        (("cache", "data", "ways"), 8),
        (("run", 0), 12),
        (("run", 0, "workload"), 13),
        (("run", 0, "parameters"), 17),
        (("run", 0, "parameters", "loads"), 18),
        (("run", 1), 19),
        (("run", 1, "l1d", "size"), 20),
        (("run", 1, "step", 0), 21),
        (("run", 1, "step", 0, "set", "b", "c"), 22),
        (("run", 1, "step", 1, "a key"), 24),
        (("x.y", "list", 0), 25),
        (("x.y", "list", 0, "last"), 26),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_each_key_has_its_line(place, line, end):
    assert tomllines.of(ALL.replace("\n", end))[place] == line


def test_every_key_of_a_file_has_a_line():
    def places(value, place=()):
        for key, part in value.items():
            yield (*place, key)
            for number, one in enumerate(part if isinstance(part, list) else [part]):
                inner = (*place, key, number) if isinstance(part, list) else (*place, key)
                if isinstance(one, dict):
                    yield inner
                    yield from places(one, inner)

    found = tomllines.of(ALL)
    assert set(places(tomllib.loads(ALL))) <= set(found)
    assert "not_a_key" not in str(found)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("schema_version = 1\nx = = 2\n", r"2: not valid TOML: Invalid value \(column 5\)"),
        ("schema_version = 1\n\n[a\n", r"3: not valid TOML: .* \(column 3\)"),
        # The parser reports no line for a statement that does not end.
        ("schema_version = 1\n# c\n\nx = [\n 1,\n", "4: not valid TOML: .*; the file ends before"),
        ('schema_version = 1\nx = """a\n\n\n', "2: not valid TOML: .*; the file ends before"),
        ("schema_version = 1\na.b = 99999999999999999999", "2: not valid TOML: expected whole num"),
        (
            b"\xef\xbb\xbfschema_version = 1\na = 1 # caf\xe9\n",
            "2: byte 0xe9 is not UTF-8; save it",
        ),
        ("\nschema_version = 2\n", "2: schema_version: expected 1, found 2"),
    ],
)
def test_a_file_that_is_not_valid_toml_names_the_line(tmp_path, text, message):
    (tmp_path / "x.toml").write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(UserError, match=rf"x\.toml:{message}"):
        tomlfile.load(tmp_path / "x.toml")


def test_a_table_names_the_line_of_a_key(tmp_path):
    (tmp_path / "x.toml").write_text(ALL)
    table = tomlfile.load(tmp_path / "x.toml")
    file = tmp_path / "x.toml"
    step = table.tables("run")[1].tables("step")[0]
    assert table.where == str(file)
    assert step.where == f"{file}:21: run[1]: step[0]"
    assert step.table("set").at("b") == f"{file}:22: run[1]: step[0]: set: b"
    assert table.at("l2.size") == f"{file}:6: l2.size"
    # A key that is not in the file has the line of the table around it.
    assert table.near("l2.ways") == f"{file}:5"
    assert table.near("ways") == str(file)
    with pytest.raises(UserError, match=r"x\.toml:5: l2: missing key 'ways' \(a whole number\)"):
        table.table("l2").number("ways")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('[set]\nl2.ways = 2\nl2.size = "5"\n', "13: set: l2.size: expected bytes"),
        ("[set]\n\n[set.l2]\nsise = 1\n", "14: set: unknown machine key 'l2.sise'"),
        ("[[overlay]]\n[overlay.set.l2]\nsize = 5\n", "13: overlay[0]: set: l2.size: expected byt"),
        ("[set]\nl2.ways = 3\n", "12: set: l2.size = 256K: expected"),
        ('[[sweep]]\ngrid = { l2.size = ["x"] }\n', "12: sweep[0]: grid: l2.size: expected bytes"),
        (
            '[[run]]\nworkload = "call"\n[run.parameters]\niterations = 0\n',
            "14: run[2]: parameters: iterations: expected a whole",
        ),
        ('[[run]]\nworkload = "chase"\nguests = ["tox"]\n', "13: run[2]: unknown guest 'tox'"),
        ("[[run]]\nwurkload = 1\n", "12: run[2]: unknown key 'wurkload'"),
    ],
)
def test_a_wrong_value_of_an_experiment_names_the_line(lab, capsys, text, message):
    path = lab.experiments / "tests.toml"
    lines = path.read_text().strip().split("\n")
    assert len(lines) == 9
    path.write_text("\n".join([*lines, "", text]))
    assert cli.main(["plan", "tests"], lab) == 2
    assert capsys.readouterr().err.startswith(f"p5lab: {path}:{message}")


@dataclass(frozen=True)
class Kinds:
    """One field of each type that a record reads."""

    name: str
    text: str
    share: float
    count: int = 1
    flag: bool = False
    words: tuple[str, ...] = ()
    half: float | None = None
    texts: Mapping[str, str] = field(default_factory=dict)
    numbers: Mapping[str, int] = field(default_factory=dict)


RECORD = 'text = "t"\nshare = 2\n'


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (RECORD, Kinds("n", "t", 2.0)),
        (
            RECORD
            + 'count = 3\nflag = true\nwords = ["a"]\nhalf = 0.5\ntexts.a = "b"\nnumbers.a = 4',
            Kinds("n", "t", 2.0, 3, True, ("a",), 0.5, {"a": "b"}, {"a": 4}),
        ),
        ("share = 2", r"missing key 'text' \(a text in quotes\)"),
        (RECORD + "shore = 1", "4: unknown key 'shore'; did you mean 'share'?"),
        (RECORD + 'name = "m"', "4: unknown key 'name'"),
        (RECORD + "count = 1.5", "4: count: expected a whole number, found a number, 1.5"),
        (RECORD + "count = true", "4: count: expected a whole number, found true or false"),
        (RECORD + "half = true", "4: half: expected a number, found true or false"),
        (RECORD + "texts.a = 1", "4: texts: a: expected a text in quotes, found a whole number"),
        (RECORD + 'numbers.a = "1"', "4: numbers: a: expected a whole number, found a text"),
    ],
)
def test_a_table_is_read_as_a_dataclass(tmp_path, text, found):
    (tmp_path / "x.toml").write_text(f"schema_version = 1\n{text}\n")
    table = tomlfile.load(tmp_path / "x.toml")
    if isinstance(found, Kinds):
        assert table.record(Kinds, name="n") == found
        return
    with pytest.raises(UserError, match=rf"x\.toml:.?{found}"):
        table.record(Kinds, name="n")


def test_numbers_and_choices_have_limits(tmp_path):
    (tmp_path / "x.toml").write_text('schema_version = 1\nn = 0\nform = "b"\n')
    table = tomlfile.load(tmp_path / "x.toml", ["n", "form"])
    assert (table.number("n"), table.number("m", 4, least=1)) == (0, 4)
    assert table.choice("form", ("a", "b")) == "b"
    assert table.choice("other", ("a", "b"), "a") == "a"
    with pytest.raises(UserError, match=r"x\.toml:2: n: expected at least 1, found 0"):
        table.number("n", least=1)
    with pytest.raises(UserError, match=r'x\.toml:3: form: expected "a" or "c", found .b.'):
        table.choice("form", ("a", "c"))
    with pytest.raises(UserError, match=r"x\.toml:3: unknown key 'form'"):
        tomlfile.load(tmp_path / "x.toml", ["n"])


def test_a_file_that_is_read_twice_gives_two_tables(tmp_path):
    (tmp_path / "x.toml").write_text("schema_version = 1\na = [{b = [1]}]\n")
    first, second = (tomlfile.load(tmp_path / "x.toml") for _ in range(2))
    first.data["a"][0]["b"].append(2)
    first.data["c"] = 3
    assert second.data == {"a": [{"b": [1]}]}
