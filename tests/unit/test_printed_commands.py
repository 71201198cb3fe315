# SPDX-License-Identifier: MIT
"""The command lines and Python examples of the documents (printed.py): each has a class, the parser
reads every command of p5lab, and the names in it exist.
"""

import ast
import contextlib
import io
import re
import runpy
import shutil
import subprocess
import sys

import printed
import pytest
from fakelab import REPO

from p5lab import packages
from p5lab.cli import main as cli
from p5lab.cli import parser as parsers
from p5lab.errors import UserError
from p5lab.lab import Lab

COMMANDS = printed.commands()
FENCED = [one for one in COMMANDS if one.fenced]
OURS = sorted({one.text for one in COMMANDS if one.text.startswith("./p5lab")})
GEM5_DATA = REPO / "tests/data/gem5"
SOURCES = (
    *(REPO / "configs/gem5").rglob("*.py"),
    *(REPO / "src/p5lab/engines/gem5").rglob("*.py"),
    REPO / "src/p5lab/lab.py",
)


# --- classes --------------------------------------------------------------------------------------


def test_each_command_belongs_to_one_class():
    """A command that does not must be added to tests/printed.py."""
    others = [(one.document, one.text) for one in FENCED if len(printed.classes(one)) != 1]
    assert others == []


def test_each_entry_of_a_class_is_needed():
    texts = {one.text for one in FENCED}
    assert set(printed.session()) <= texts
    for pattern in printed.OTHERS:
        assert any(re.fullmatch(pattern, text) for text in texts), pattern


def test_an_unclassified_command_would_be_found():
    assert printed.classes(printed.command("README.md", "rm -r results", fenced=True)) == []


def test_what_a_command_line_is():
    fence = "\n# a comment\nA=1 ./p5lab run x  # why\n./p5lab run \\\n  y --no-build\n$ ./p5lab z\n"
    found = [printed.command("a.md", line, fenced=True) for line in printed.lines(fence)]
    texts = ["./p5lab run x", "./p5lab run y --no-build", "./p5lab z"]
    assert [one.text for one in found] == texts
    assert found[0].assigned == ("A",)
    assert printed.alternatives("list [a|b] c") == ["list c", "list a c", "list b c"]
    assert printed.alternatives("test a|b [N]") == ["test a", "test b", "test a N", "test b N"]


# --- commands of p5lab ----------------------------------------------------------------------------


class Enough(Exception):
    """The command line has chosen its runs."""


def arguments(text):
    """Returns the arguments of a command of p5lab, with examples instead of placeholders."""
    words = printed.command("", text, fenced=True).words[1:]
    found = []
    for word in words:
        name = word.removesuffix("...") or word
        if new := printed.PLACEHOLDERS.get(name, name):
            found.append(new)
    return found


@pytest.fixture
def choose(tmp_path, monkeypatch):
    """Returns a function that calls the command line up to the moment when the runs are chosen.
    Nothing is built and nothing runs."""
    chosen = []

    def stop(lab, runs, *rest, **more):
        chosen.extend(runs)
        raise Enough

    monkeypatch.setattr("p5lab.cli.commands.run.execute", stop)
    lab = Lab(REPO, tmp_path / "results")

    def call(words):
        with contextlib.redirect_stderr(io.StringIO()) as said:
            try:
                status = cli.main(words, lab)
            except Enough:
                return chosen
        raise AssertionError(f"status {status}: {said.getvalue()}")

    return call


def parsed(words):
    """Checks that the parser of the command line reads the words."""
    if len(words) == 1:  # the text mentions a command by its name
        assert words[0] in (*parsers.names(), "--help")
    elif words[0] in ("bench", "help"):
        assert words[0] == "bench" or words[1] in parsers.names()
    else:
        parsers.of_all().parse_args(words)


def refused(texts):
    """Returns the commands that the parser refuses, with the reason."""
    found = {}
    for text in texts:
        for one in printed.alternatives(text):
            try:
                parsed(arguments(one))
            except (AssertionError, UserError, SystemExit) as error:
                found[one] = str(error)
    return found


def test_the_parser_reads_each_command():
    assert len(OURS) > 100
    assert refused(OURS) == {}


def test_a_command_that_the_parser_refuses_would_be_found():
    wrong = {"./p5lab run smoke --sett a=1", "./p5lab rnu smoke", "./p5lab rnu"}
    assert set(refused([*wrong, "./p5lab show", "./p5lab run smoke"])) == wrong


# The names that the reader chooses, and commands whose runs depend on files or on other programs.
OWN = re.compile(
    r"\bNAME\b|--program|--disk|--floppy|p75-small|run tutorial|--engine|--scheduler|--simpoint"
    r"|\.\.\."
)


@pytest.mark.parametrize(
    "text", [text for text in OURS if text.startswith("./p5lab run ") and not OWN.search(text)]
)
def test_the_names_in_the_command_exist(text, choose):
    assert choose([*arguments(text), "--no-build"])


def test_a_name_that_does_not_exist_would_be_found(choose):
    for text in ("run smoek", "run smoke --set l2.sise=1K", "run smoke --workload dupp"):
        with pytest.raises(AssertionError, match="status 2"):
            choose(text.split())


# --- commands of other programs -------------------------------------------------------------------


def others(kind):
    """Returns the commands in fences of one class of printed.OTHERS."""
    return [one for one in FENCED if printed.classes(one) == [kind]]


def options_of(path):
    """Returns the long options that a script declares."""
    return set(re.findall(r'"(--[\w-]+)"', path.read_text()))


@pytest.mark.parametrize("one", others("scripts"), ids=lambda one: one.text[:60])
def test_a_script_has_the_options_of_the_command(one):
    script = next(word for word in one.words if word.endswith(".py"))
    given = {word.partition("=")[0] for word in one.words if word.startswith("--")} - {"--help"}
    assert given <= options_of(REPO / script)
    # A path of the checkout exists. A path of a build product or of a download need not exist.
    for word in one.words:
        path = word.partition("=")[2] or word
        if path.split("/")[0] in ("guest-images", "workloads", "configs"):
            assert (REPO / path).exists(), path


@pytest.mark.parametrize("one", others("modules"), ids=lambda one: one.text[:60])
def test_a_module_reads_the_statistics_of_gem5(one, tmp_path, monkeypatch, capsys):
    """The commands run on sample files with enough dumps. The commands that download all sources or
    install packages are not executed."""
    words = one.words
    module = words[words.index("-m") + 1]
    if module == "p5lab.host.fetch":
        assert words[-1] == "all"
        assert '"all"' in (REPO / "src/p5lab/host/fetch.py").read_text()
        return
    if module == "p5lab.packages":
        assert set(words[words.index("-m") + 2 :]) <= set(packages.GROUPS)
        return
    shutil.copytree(GEM5_DATA, tmp_path / "m5out")
    (tmp_path / "m5out/stats.txt").write_text((GEM5_DATA / "stats.txt").read_text() * 2)
    if module == "p5stats.gem5_events":
        shutil.rmtree(tmp_path / "m5out")
        shutil.copytree(GEM5_DATA / "getpid-stock", tmp_path / "m5out")
        packed = tmp_path / "m5out/stats.txt.xz"
        subprocess.run(["xz", "--decompress", packed], check=True)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", [module, *words[words.index("-m") + 2 :]])
    with pytest.raises(SystemExit) as ended:
        runpy.run_module(module, run_name="__main__")
    assert not ended.value.code
    assert capsys.readouterr().out


def test_the_files_of_a_new_device_and_observer_are_copied(tmp_path):
    (tmp_path / "tests").mkdir()
    shutil.copytree(REPO / "tests/templates", tmp_path / "tests/templates")
    for part in ("devices", "observe"):
        (tmp_path / "engine" / part).mkdir(parents=True)
    commands = others("copies")
    assert len(commands) == 3
    for one in commands:
        subprocess.run(one.words, cwd=tmp_path, check=True)
    names = {path.name for path in (tmp_path / "engine/devices/timer").iterdir()}
    assert names == {"device.toml", "device.cc", "timer_test.cc"}
    names = {path.name for path in (tmp_path / "engine/observe/NAME").iterdir()}
    assert names == {"observer.toml", "paging.cc"}


@pytest.mark.parametrize("one", others("dask"), ids=lambda one: one.text[:60])
def test_dask_has_the_options_of_the_command(one):
    distributed = pytest.importorskip("distributed.cli")
    del distributed
    from distributed.cli import dask_scheduler, dask_worker

    command = {"scheduler": dask_scheduler, "worker": dask_worker}[one.words[1]].main
    known = {name for option in command.params for name in (*option.opts, *option.secondary_opts)}
    assert {word for word in one.words if word.startswith("--")} <= known


# --- Python examples ------------------------------------------------------------------------------


def examples(document):
    """Returns the Python examples of a document, in their order."""
    return [text for language, text in printed.fences(document) if language == "python"]


# How the examples of a document are tested.
PYTHON = {
    "README.md": "e2e/test_python_doc.py",
    "docs/start/analysis.md": "e2e/test_analysis.py",
    "docs/start/python.md": "e2e/test_python_doc.py",
    "stats-parsers/README.md": "executed",
    "configs/gem5/README.md": "names",  # only a gem5 can import its modules
    "configs/gem5/extras/README.md": "names",
    "docs/reference/clusters.md": "compiled",  # needs a batch system
}


def test_each_python_example_has_a_test():
    assert {one for one in printed.documents() if examples(one)} == set(PYTHON)
    for kind in PYTHON.values():
        if kind.endswith(".py"):
            assert "render" in (REPO / "tests" / kind).read_text()


@pytest.mark.parametrize("document", sorted(PYTHON))
def test_the_example_is_python(document):
    for text in examples(document):
        ast.parse(text + ")" * (text.count("(") - text.count(")")))


def test_the_example_of_the_parser(tmp_path, monkeypatch, capsys):
    (tmp_path / "m5out").mkdir()
    (tmp_path / "m5out/stats.txt").write_text(
        "\n---------- Begin Simulation Statistics ----------\n"
        "simTicks  7000  # ticks (Tick)\n"
        "system.cpu.dcache.overallMisses::cpu.data  30  # misses (Count)\n"
        "system.cpu.dcache.overallMisses::total  30  # misses (Count)\n"
        "\n---------- End Simulation Statistics   ----------\n"
    )
    monkeypatch.chdir(tmp_path)
    (text,) = examples("stats-parsers/README.md")
    exec(compile(text, "README.md", "exec"), {})
    number, ticks, misses = map(float, capsys.readouterr().out.split())
    assert (number, ticks, misses) == (0, 7000, 30)


@pytest.mark.parametrize("document", [name for name, kind in PYTHON.items() if kind == "names"])
def test_the_names_of_a_gem5_example_exist(document):
    """The classes, functions and keyword arguments of the examples are in our configuration."""
    text = "\n".join(path.read_text() for path in SOURCES)
    for example in examples(document):
        for node in ast.walk(ast.parse(example)):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else node.func.id
                assert re.search(rf"\b(?:class|def) {name}\b", text), name
                for keyword in node.keywords:
                    assert re.search(rf"\b{keyword.arg}\b", text), keyword.arg
