# SPDX-License-Identifier: MIT
"""The cost of an extension: new files and edited lines.

The tests follow each recipe of recipes.py in a copy of the checkout and compare its cost with the
table of docs/extend/README.md. The tests also add the templates of docs/extend/templates to a
directory of P5LAB_PATH.
"""

import difflib
import json
import shutil
from dataclasses import replace
from pathlib import Path

import fakelab
import pytest
from checkout import copied
from fakelab import REPO
from recipes import OF_TESTS, RECIPES, TEMPLATES, check_machine, check_option_and_dimension

from p5lab.cli import main as cli
from p5lab.describe import delivery, experiment, guest, notebook, workload
from p5lab.describe.elf import Elf
from p5lab.errors import UserError
from p5lab.execute.build_and_run import examine
from p5lab.execute.runner import Runner
from p5lab.host import delivered
from p5lab.lab import PLACES, Lab
from p5lab.progress import Progress

EXTENDING = REPO / "docs/extend/README.md"
# The lines of the table.
TABLE = [line for line in EXTENDING.read_text().splitlines() if line.startswith(("| a ", "| an "))]
# The files of a checkout that the compilation of a workload needs.
COMPILING = (
    "workloads/lib",
    "workloads/build_workload.py",
    "guest-images/linux/p5ctr",
    "guest-images/parts/rootfs",
    "guest-images/check_isa.py",
    "tools/archives.py",
    "tools/building.py",
    "tools/pentium_programs.py",
    "tools/stripping.py",
    "tools/zig_commands.py",
)


def contents(root):
    return {
        path.relative_to(root): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts and "build" not in path.parts
    }


def entries(before, after):
    """Returns the new files, or directories that contain only new files."""
    known = {parent for path in before for parent in path.parents}
    return {
        next((one for one in reversed(path.parents) if one not in known), path)
        for path in after.keys() - before.keys()
    }


@pytest.fixture(scope="module")
def copied_once(tmp_path_factory):
    """Returns the directory of a copy of the checkout without build products, and its contents."""
    root = copied(tmp_path_factory.mktemp("extending") / "checkout")
    return root, contents(root)


@pytest.fixture
def copy(copied_once):
    """Returns the copy of the checkout. After the test, it is as before, and Python has compiled
    its modules."""
    root, before = copied_once
    yield Lab(root)
    for name in ("build", "results"):
        shutil.rmtree(root / name, ignore_errors=True)
    after = contents(root)
    for path in entries(before, after):
        place = root / path
        shutil.rmtree(place) if place.is_dir() else place.unlink()
    for path, content in before.items():
        if after.get(path) != content:
            (root / path).write_bytes(content)


def lines_edited(before, after):
    """Returns the number of lines that were added or changed in each existing file."""
    edited = {}
    for path in before:
        if before[path] != after[path]:
            old, new = (text.decode().splitlines() for text in (before[path], after[path]))
            changes = difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
            edited[path] = sum(max(j - i, b - a) for kind, i, j, a, b in changes if kind != "equal")
    return edited


def row(what, name, new, edited):
    """Returns the line of docs/extend/README.md for the changes of a recipe."""
    new_ones = [str(path).replace(name, "NAME") for path in sorted(new)]
    return (
        f"| {what} | {', '.join(f'`{one}`' for one in new_ones) or 'none'} |"
        f" {', '.join(f'{count} in `{path}`' for path, count in sorted(edited.items())) or 0} |"
    )


@pytest.mark.parametrize("what", RECIPES)
def test_files_touched_to_add(copied_once, copy, swept, what):
    recipe, before = RECIPES[what], copied_once[1]
    recipe.add(copy.root)
    after = contents(copy.root)
    assert before.keys() <= after.keys()
    new, edited = entries(before, after), lines_edited(before, after)
    assert row(what, recipe.name, new, edited) in TABLE
    shutil.copytree(swept[0], copy.results)
    recipe.check(copy)


def test_the_table_has_what_is_added_here_and_the_exceptions_say_why():
    """Each extension needs at most one new entry and one edited line. If an extension needs more, a
    paragraph gives the reason.
    """
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in TABLE]
    assert [cells[0] for cells in rows] == list(RECIPES)
    text = EXTENDING.read_text()
    for what, new, edited in rows:
        lines = sum(int(one.split()[0]) for one in edited.split(", "))
        if new.count("`") > 2 or lines > 1:
            assert f"**{what[0].upper()}{what[1:]}**" in text


# --- outside of the checkout -----------------------------------------------------------------


@pytest.fixture
def mine(tmp_path):
    """Returns a directory for P5LAB_PATH with a copy of the templates."""
    return Path(shutil.copytree(TEMPLATES, tmp_path / "mine"))


def test_the_variable_names_directories(mine, monkeypatch):
    monkeypatch.setenv("P5LAB_PATH", f"{mine}:{mine.parent}")
    assert Lab.here().path == (mine, mine.parent)
    monkeypatch.delenv("P5LAB_PATH")
    assert Lab.here().path == ()


def test_templates_copied_out_are_found_and_make_runs(mine):
    lab = Lab(REPO, path=(mine,))
    check_machine(lab)
    assert guest.load(lab, "my-guest").kernel == guest.load(lab, "linux").kernel
    assert "norandmaps" not in guest.load(lab, "my-guest").cmdline.split()
    assert notebook.title(lab, "my-notebook") == "My notebook"
    runs = experiment.load(lab, "my-experiment")
    assert [(run.guest.name, run.parameters["bytes"]) for run in runs] == [
        (name, size) for name in ("linux", "my-guest") for size in (1, 4096)
    ]
    for run in runs:
        assert run.machine.name == "my-machine"
        assert run.job == f"my-workload iterations=50 warmup=5 bytes={run.parameters['bytes']}"
    assert "my-experiment" not in experiment.names(Lab(REPO))


def test_an_observer_outside_of_the_checkout_has_an_option_and_a_dimension(mine):
    shutil.copytree(OF_TESTS / "paging", mine / "observers/paging")
    check_option_and_dimension(REPO, P5LAB_PATH=str(mine))


def test_two_programs_with_the_same_arguments_are_two_runs(mine):
    other = mine / "workloads/other"
    shutil.copytree(mine / "workloads/my-workload", other)
    (other / "my-workload.c").rename(other / "other.c")
    file = mine / "experiments/my-experiment.toml"
    file.write_text(file.read_text() + '[[run]]\nworkload = "other"\n')
    runs = experiment.load(Lab(REPO, path=(mine,)), "my-experiment")
    assert len([run for run in runs if run.guest.name == "linux"]) == 3


@pytest.fixture
def own(lab, mine):
    """Returns the miniature checkout with that directory. The checkout also contains the guest that
    the templates' experiment uses, and the files that a compilation needs.
    """
    for name in COMPILING:
        source, target = REPO / name, lab.root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        (shutil.copytree if source.is_dir() else shutil.copy)(source, target)
    toy = fakelab.GUEST.replace('"toy"', '"linux"').replace('cmdline = "', 'cmdline = "norandmaps ')
    lab._put("guest-images/linux/guest.toml", toy)
    lab.behave(events={"my-workload": fakelab.call_events()})
    return replace(lab, path=(mine,))


def program_of(lab, run):
    """Returns the program that the engine delivers for a run."""
    ((path, inside),) = delivery.files(lab, run)
    assert inside == f"/bin/{run.workload.name}"
    return path


def test_a_workload_from_outside_is_compiled_and_delivered(own, mine, built):
    libc = built("build/libc/musl/lib/libc.a").parent
    shutil.copytree(libc, own.root / "build/libc/musl/lib")
    runs = experiment.load(own, "my-experiment")
    (path,) = {program_of(own, run) for run in runs}
    assert path.is_relative_to(own.root / "build")
    delivered.ensure(own, runs, Progress())
    # --attribute finds the names of a program's functions in the file with the same code.
    (symbols,) = own.root.glob("build/symbols/*/my-workload")
    delivers, named = Elf(path.read_bytes()), Elf(symbols.read_bytes())
    assert named.code == delivers.code
    assert not delivers.symbols
    assert "main" in {one.name for one in named.symbols}
    results = Runner(own).run_all(runs)
    assert [result.status for result in results] == ["ok"] * 4
    record = json.loads((results[-1].directory / "run.json").read_text())
    assert record["files"] == {
        "experiment": str(mine / "experiments/my-experiment.toml"),
        "machine": str(mine / "machines/my-machine.toml"),
        "guest": str(mine / "guests/my-guest/guest.toml"),
        "workload": str(mine / "workloads/my-workload/workload.toml"),
    }
    # An unchanged program is not compiled again. A changed program is compiled under another name.
    before = path.stat().st_mtime_ns
    delivered.ensure(own, experiment.load(own, "my-experiment"), Progress())
    assert path.stat().st_mtime_ns == before
    source = mine / "workloads/my-workload/my-workload.c"
    source.write_text(source.read_text().replace("/dev/null", "/dev/zero"))
    assert program_of(own, experiment.load(own, "my-experiment")[0]) != path


def test_a_program_that_cannot_be_compiled_is_one_line(own, mine):
    source = mine / "workloads/my-workload/my-workload.c"
    source.write_text("int main(void) { return nothing; }\n")
    own._put("build/libc/musl/lib/libc.a", "")  # the linker does not run
    with pytest.raises(UserError, match=r"my-workload\.c: .*nothing") as error:
        delivered.ensure(own, experiment.load(own, "my-experiment"), Progress())
    assert "\n" not in str(error.value)


def test_a_guest_for_which_nothing_is_compiled(own, mine):
    file = mine / "guests/my-guest/guest.toml"
    file.write_text(file.read_text().replace("[boot]", 'programs = "mine"\n[boot]'))
    runs = experiment.load(own, "my-experiment")
    with pytest.raises(UserError, match="guest my-guest: programs: expected one of linux"):
        examine(own, runs)


def test_files_beside_a_guest(mine):
    file = mine / "guests/my-guest/guest.toml"
    file.write_text(file.read_text() + 'kernel = "./bzImage"\n')
    found = guest.load(Lab(REPO, path=(mine,)), "my-guest")
    assert found.kernel == mine / "guests/my-guest/bzImage"
    assert found.initramfs == guest.load(Lab(REPO), "linux").initramfs


@pytest.mark.parametrize(
    ("kind", "ours", "name"),
    [
        ("machine", "configs/machines/p90-premiere2.toml", "machines/p90-premiere2.toml"),
        ("experiment", "configs/experiments/tests.toml", "experiments/tests.toml"),
        ("guest", "guest-images/toy/guest.toml", "guests/toy/guest.toml"),
        ("workload", "workloads/micro/call/workload.toml", "workloads/call/workload.toml"),
    ],
)
def test_a_name_stands_once(own, mine, capsys, kind, ours, name):
    assert kind in PLACES
    file = mine / name
    file.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(own.root / ours, file)
    assert cli.main(["list"], own) == 2
    said = capsys.readouterr().err
    assert f"{kind} " in said
    assert f"has two files: {own.root / ours} and {file}; rename one" in said
    assert said.count("\n") == 1


def test_a_directory_that_is_not_there(lab, capsys):
    there = replace(lab, path=(lab.root / "nowhere",))
    assert cli.main(["list", "machines"], there) == 2
    assert capsys.readouterr().err == (
        f"p5lab: P5LAB_PATH: {lab.root / 'nowhere'}: expected a directory; there is none\n"
    )


def test_a_workload_one_level_too_deep_is_named(own, capsys):
    (directory,) = own.path
    there = directory / "workloads/micro/deep/workload.toml"
    there.parent.mkdir(parents=True)
    there.touch()
    assert cli.main(["simpoint", "deep"], own) == 2
    right = directory / "workloads/deep/workload.toml"
    assert capsys.readouterr().err == (
        f"p5lab: unknown workload 'deep'; {there}: expected as {right}\n"
    )


def test_a_directory_of_another_structure_is_refused(lab, tmp_path, capsys):
    (tmp_path / "configs/machines").mkdir(parents=True)
    assert cli.main(["list", "machines"], replace(lab, path=(tmp_path,))) == 2
    assert capsys.readouterr().err == (
        f"p5lab: P5LAB_PATH: {tmp_path}: expected one or more of the directories experiments,"
        " guests, machines, notebooks, observers, workloads, engines in it; found none\n"
    )


def test_list_shows_what_is_outside(own, capsys):
    for kind, title in {
        "machines": "Pentium 90 with 512 KB L2",
        "guests": "Linux 6.1 that places programs at random addresses",
        "workloads": "one write to /dev/null",
        "experiments": "my workload on two guests",
        "notebooks": "My notebook",
    }.items():
        assert cli.main(["list", kind, "--json"], own) == 0
        listed = {one["name"]: one["title"] for one in json.loads(capsys.readouterr().out)[kind]}
        assert listed[f"my-{kind[:-1]}"] == title


# --- wrong descriptions ----------------------------------------------------------------------


def test_the_file_of_earlier_checkouts_is_refused_in_one_line(lab):
    lab._put(workload.FORMER, "schema_version = 1\n[open]\n")
    with pytest.raises(UserError, match=r"workloads\.toml: expected one description beside each"):
        workload.load(lab)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('operation = "call"', 'operation = "call"\nneeds = ["netwrok"]', "did you mean 'network'"),
        ("[parameters]", '[parameters]\npeer = { like = "per" }', "did you mean 'peer'"),
        (
            "[parameters]",
            '[parameters]\npeer = { like = "peer", needs = { reomte = [] } }',
            "did you mean 'remote'",
        ),
    ],
)
def test_wrong_needs_say_what_and_where(lab, old, new, message):
    path = lab.describe("call", fakelab.CALL.replace(old, new))
    with pytest.raises(UserError, match=message) as error:
        workload.load(lab)
    assert str(path) in str(error.value)


def test_needs_and_has(lab):
    needs = '[parameters]\npeer = { like = "peer" }'
    lab.describe("call", fakelab.CALL.replace("[parameters]", needs))
    lab.describe("chase", fakelab.CHASE.replace("title", 'needs = ["proc"]\ntitle'))
    known = workload.load(lab)

    def reasons(text):
        lab._put("guest-images/toy/guest.toml", fakelab.GUEST.replace("[boot]", text + "[boot]"))
        toy = guest.load(lab, "toy")
        return (
            toy.why_not(known["call"], known["call"].resolve({}, "")),
            toy.why_not(known["call"], known["call"].resolve({"peer": "remote"}, "")),
            toy.why_never(known["chase"]),
        )

    assert reasons("") == ("", "there is no network", "there is no /proc")
    assert reasons('has = ["network", "proc"]\n') == ("", "", "")
    assert reasons('has = ["proc"]\n[lacks]\nnetwork = "the host\'s"\n') == ("", "the host's", "")
    with pytest.raises(UserError, match="unknown capability 'prok'; did you mean 'proc'"):
        reasons('has = ["prok"]\n')


def test_a_variant_can_lack_what_its_base_has(lab):
    lab._put(
        "guest-images/toy/guest.toml", fakelab.GUEST.replace("[boot]", 'has = ["proc"]\n[boot]')
    )
    lab._put(
        "guest-images/less/guest.toml",
        'schema_version = 1\nname = "less"\nbase = "toy"\ntitle = "less"\n[lacks]\nproc = "gone"\n',
    )
    lab.describe("call", fakelab.CALL.replace("title", 'needs = ["proc"]\ntitle'))
    known = workload.load(lab)["call"]
    assert guest.load(lab, "toy").why_never(known) == ""
    assert guest.load(lab, "less").why_never(known) == "gone"
