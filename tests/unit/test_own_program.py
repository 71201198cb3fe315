# SPDX-License-Identifier: MIT
"""One's own program from the source file to its output: compilation, what a run shows, limits,
regions.
"""

import csv
import hashlib
import json
import os
import re
import shlex
import sys
import threading
from pathlib import Path

import pytest
from fakelab import END, HEADER, snapshot
from test_program import elf
from test_source_lines import address_of_code, built

from p5lab.cli import main as cli
from p5lab.cli import parser, piped
from p5lab.describe import experiment
from p5lab.describe.elf import Elf
from p5lab.describe.markers import WHOLE_PHASE
from p5lab.describe.observation import AttributedCounts, Observation, Region, functions
from p5lab.describe.program_files import ProgramFiles
from p5lab.describe.request import Filter, Request, UserProgram
from p5lab.errors import UserError
from p5lab.execute import runner
from p5lab.host import compiler
from p5lab.keep import store
from p5lab.prepare import prepare
from p5lab.present import program_output, region_calls

RUN = ("--guest", "toy", "--no-build")
REGION_PHASE = 0xFFFFFFFD


def whole(*inner, end=END):
    """Returns the events of a run of a program. `inner`: the lines inside the whole program."""
    begin = snapshot("begin", WHOLE_PHASE, [500, 0, 100], [10, 0, 5])
    stop = snapshot("end", WHOLE_PHASE, [900, 0, 180], [90, 0, 45])
    return {"@program": [HEADER, begin, *inner, stop, end]}


@pytest.fixture
def program(tmp_path):
    path = tmp_path / "hello"
    path.write_bytes(elf())
    return path


def the_run(lab):
    (directory,) = [path.parent for path in lab.results.glob("program/*/run.json")]
    return directory.name


# --- output ---------------------------------------------------------------------------------------


def test_a_run_shows_what_the_program_printed(lab, program, capsys):
    lab.behave(events=whole(), output="hello\nworld \x1b[31mred\n")
    assert cli.main(["run", "--program", str(program), "--args", "-n 3", *RUN], lab) == 0
    printed = capsys.readouterr()
    assert "hello -n 3 printed:\nhello\nworld \\x1b[31mred\n" in printed.err
    assert "\x1b" not in printed.err + printed.out
    assert "world" not in printed.out  # stdout has only results
    assert cli.main(["run", "--program", str(program), "--args", "-n 3", "--quiet", *RUN], lab) == 0
    assert "world" not in capsys.readouterr().err


def test_a_program_without_markers_has_no_note_about_a_subtraction(lab, program, capsys):
    lab.behave(events=whole())
    assert cli.main(["run", "--program", str(program), *RUN], lab) == 0
    assert cli.main(["show", the_run(lab)], lab) == 0
    printed = capsys.readouterr().out
    # A program runs once, so no number is a mean over iterations.
    single = "Each number is for one run of the program and comes from a single iteration."
    assert " ".join(printed.split()).count(single) == 1
    assert "the mean" not in printed
    assert not re.search(r"^ *(lowest|highest) ", printed, re.MULTILINE)
    assert "subtract" not in printed
    assert "chen95" not in printed


@pytest.mark.parametrize(
    ("words", "job"),
    [
        (("--args", "-n"), "@program -n"),  # one word that looks like an option of p5lab
        (("--args", "--json"), "@program --json"),
        (("--args=-n 3",), "@program -n 3"),
        (("--args", "'-n' \"3\""), "@program -n 3"),
        (("--args", ""), "@program"),
    ],
)
def test_arguments_may_look_like_options(lab, program, words, job):
    lab.behave(events=whole())
    assert cli.main(["run", "--program", str(program), *words, *RUN], lab) == 0
    assert lab.starts() == [job]


def test_a_program_that_prints_nothing_or_fails(lab, program, capsys):
    lab.behave(events=whole())
    assert cli.main(["run", "--program", str(program), *RUN], lab) == 0
    assert "hello printed nothing.\n" in capsys.readouterr().err
    lab.behave(events=whole(end={**END, "guest_status": 3}), output="no such file\n")
    assert cli.main(["run", "--program", str(program), "--args", "x", *RUN], lab) == 1
    said = capsys.readouterr().err
    assert "hello x printed:\nno such file\n" in said
    assert "ended with status 3" in said


def test_equal_output_of_several_runs_appears_once(lab, program, capsys):
    lab.behave(events=whole(), output="same\n")
    sweep = ("--sweep", "l2.size=128K,256K")
    assert cli.main(["run", "--program", str(program), *sweep, *RUN], lab) == 0
    said = capsys.readouterr().err
    assert "hello (2 runs) printed:\nsame\n" in said
    assert said.count("same") == 1


def test_show_names_the_program_and_prints_its_output(lab, program, capsys):
    lab.behave(events=whole(), output="96\n\x1b]0;title\x07\n")
    assert cli.main(["run", "--program", str(program), "--args", "96", "--quiet", *RUN], lab) == 0
    capsys.readouterr()
    assert cli.main(["show", the_run(lab)], lab) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^program +hello 96 *$", shown, re.MULTILINE)
    assert "@program" not in shown
    assert "hello 96 printed:\n96\n\\x1b]0;title\\x07\n" in shown


def test_a_workload_of_an_experiment_has_no_output_here(lab, capsys):
    lab.behave(output="secret\n")
    assert cli.main(["run", "tests", "--no-build"], lab) == 0
    assert "secret" not in capsys.readouterr().err


def test_long_output_ends_with_the_place_of_the_rest(lab, program, capsys):
    lines = program_output.LINES + 5
    lab.behave(events=whole(), output="".join(f"line {n}\n" for n in range(lines)))
    assert cli.main(["run", "--program", str(program), *RUN], lab) == 0
    said = capsys.readouterr().err
    assert f"line {program_output.LINES - 1}\n" in said
    assert f"line {program_output.LINES}\n" not in said
    assert re.search(r"\(and 5 more lines: .*results/program/\w+/output\.log\)", said)
    lab.behave(events=whole(), output="x" * 100_000 + "\nend\n")
    assert cli.main(["run", "--program", str(program), "--force", *RUN], lab) == 0
    said = capsys.readouterr().err
    assert "x" * program_output.BYTES + " ..." in said
    assert len(said) < program_output.BYTES + 2000


def test_records_of_before_have_their_name_from_the_parameters():
    record = {
        "experiment": "program",
        "parameters": {"file": "a.out", "arguments": "-n,3"},
    }
    assert program_output.name(record) == "a.out -n 3"
    assert program_output.name({"experiment": "smoke", "parameters": {}}) == ""


# --- limits and refused instructions --------------------------------------------------------------


def test_a_limit_of_virtual_time(lab, program, capsys):
    (run,) = prepare(lab, Request(UserProgram(program), Filter(guests=("toy",), limit=7))).runs
    assert run.limit_cycles == 7 * 90_000_000
    assert all(run.limit_seconds == 9 for run in experiment.load(lab, "tests", Filter(limit=9)))
    lab.behave(exit=4, events={})
    assert cli.main(["run", "--program", str(program), "--limit", "7", *RUN], lab) == 1
    assert "; `run --limit SECONDS` sets another limit" in capsys.readouterr().err
    assert cli.main(["run", "tests", "--limit", "0"], lab) == 2
    assert "--limit: expected a whole number, at least 1" in capsys.readouterr().err
    with pytest.raises(UserError, match="--limit: expected without --engine native"):
        prepare(lab, Request(UserProgram(program), Filter(engine="native", limit=3)))


def test_a_run_with_a_longer_limit_may_take_longer_on_the_host(lab, program, monkeypatch):
    given = []
    perform = runner.one_run.perform

    def remember(task, *rest):
        given.append(task.host_limit)
        return perform(task, *rest)

    monkeypatch.setattr("p5lab.execute.executor.one_run.perform", remember)
    lab.behave(events=whole())
    for limit in (None, 60, 1200):
        choice = Filter(guests=("toy",), limit=limit)
        (run,) = prepare(lab, Request(UserProgram(program), choice)).runs
        assert runner.Runner(lab, host_limit=50).run_all([run])[0].status == "ok"
    assert given == [50, 50, 500]


def test_a_refused_instruction_is_explained_by_the_run(lab, tmp_path, capsys):
    program = built(tmp_path, "-g")
    address = address_of_code(program, b"\x0f\x45\xc2")
    reason = f"invalid opcode (#UD) at 0x{address:08x}, ring 3, CR3 0x00001000"
    end = {**END, "status": "failed", "reason": reason}
    lab.behave(exit=3, events={"@program": [HEADER, end]})
    assert cli.main(["run", "--program", str(program), *RUN], lab) == 1
    said = capsys.readouterr().err
    assert f"`cmovne eax,edx` (0f 45 c2) in _start, {tmp_path}/prog.c:10" in said
    assert "-mcpu=pentium" in said


# --- compilation ----------------------------------------------------------------------------------

# A compiler that writes its words into the program, and a list of inputs for make.
ZIG = """
import json, pathlib, sys
words = sys.argv[1:]
with pathlib.Path("@log@").open("a") as log:
    log.write(json.dumps(words) + "\\n")
made = pathlib.Path(words[words.index("-o") + 1])
if "-c" not in words:  # the linker, called by Zig or directly
    given = next(word for word in words if word.endswith(".o") and "/crt" not in word)
    made.write_bytes(pathlib.Path(given).read_bytes() + (b"" if "-s" in words else b"symbols"))
    if words[0] == "cc":
        print("ar rcs /cache/libc.a /cache/x.o", file=sys.stderr)
        print("ld.lld -s", given, "-o", made, file=sys.stderr)  # Zig quotes nothing
    sys.exit(0)
source = pathlib.Path(words[words.index("-c") + 1])
text = source.read_text()
if "#error" in text:
    print(f"{source}:1:2: error: \\x1b[1mas asked", file=sys.stderr)
    sys.exit(1)
if "#warning" in text:
    print(f"{source}:1:2: warning: careful", file=sys.stderr)
made.write_bytes(b"object of p5lab")
if "-MF" not in words:
    sys.exit(0)
header = source.with_name("own header.h")
needs = pathlib.Path(words[words.index("-MF") + 1])
listed = [str(path).replace(" ", chr(92) + " ") for path in (source, header)]
needs.write_text("program: " + f" {chr(92)}\\n  ".join(listed) + "\\n")
made.write_bytes(pathlib.Path("@program@").read_bytes() + text.encode())
"""


@pytest.fixture
def source(lab, tmp_path, program, monkeypatch):
    """Returns a source file. A script is the compiler."""
    lab._put(f"{compiler.C_LIBRARY}/libc.a", "")
    path = tmp_path / "my prog.c"
    path.write_text("int main(void) { return 0; }\n")
    path.with_name("own header.h").write_text("")
    zig = tmp_path / "zig"
    text = ZIG.replace("@program@", str(program)).replace("@log@", str(tmp_path / "log"))
    zig.with_name("zig.py").write_text(text)
    zig.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$0.py" "$@"\n')
    zig.chmod(0o755)
    monkeypatch.setattr(compiler, "_zig", lambda: zig)
    return path


def compiled(source):
    """Returns the command lines of the compiler so far, without those of the linker."""
    log = source.with_name("log")
    words = [json.loads(line) for line in log.read_text().splitlines()] if log.exists() else []
    return [one for one in words if "-c" in one]


def test_a_source_file_is_compiled_and_runs(lab, source, capsys):
    lab.behave(events=whole(), output="hi\n")
    words = ["run", "--program", str(source), "--cflags", "-O3 '-DNAME=a b'", *RUN]
    assert cli.main(words, lab) == 0
    said = capsys.readouterr().err
    assert "my prog.c (-O3 '-DNAME=a b') printed:\nhi\n" in said
    assert "ar rcs" not in said
    (command,) = compiled(source)
    assert command[:4] == ["cc", "-target", "x86-linux-musl", "-mcpu=pentium"]
    assert {"-static", "-g", "-O3", "-DNAME=a b"} <= set(command)
    assert command.index("-O2") < command.index("-O3")
    record = json.loads((lab.results / "program" / the_run(lab) / "run.json").read_text())
    assert record["program"] == {
        "name": "my prog.c (-O3 '-DNAME=a b')",
        "arguments": [],
        "options": {"--program": str(source), "--cflags": "-O3 '-DNAME=a b'"},
    }
    assert record["parameters"]["file"] == "my_prog.c"
    made = record["built_from"]["program"]
    assert made["compiler"].startswith("ziglang ")
    assert made["options"][-2:] == ["-O3", "-DNAME=a b"]
    assert str(source) in made["inputs"]
    assert made["program"] == record["identity"]["digests"]["program"]


def test_the_command_for_missing_counts_can_be_pasted(lab, source, tmp_path, capsys, monkeypatch):
    lab.behave(events=whole())
    lab._put(compiler.INPUT_SOURCE, "")
    (tmp_path / "in.txt").write_text("1")
    monkeypatch.chdir(tmp_path.parent)
    given = ["--program", f"{tmp_path.name}/my prog.c", "--args", "-n 3 /x", "--stdin"]
    given += [f"{tmp_path.name}/in.txt", "--cflags=-O3", "--guest", "toy", "--set"]
    given += ["l2.size=512K", "--seed", "7", "--label", "mine"]
    assert cli.main(["run", *given, "--no-build"], lab) == 0
    capsys.readouterr()

    def hint():
        assert cli.main(["show", the_run(lab), "--by", "function"], lab) == 2
        command = re.search("`(.*)`", capsys.readouterr().err)[1]
        words = shlex.split(command)[1:]
        return vars(parser.of_command("run").parse_args(words[1:]))

    found, asked = hint(), vars(parser.of_command("run").parse_args([*given, "--by", "function"]))
    assert found.pop("settings") == ["l2.size=524288"] and asked.pop("settings")
    assert found == asked
    place = lab.results / "program" / the_run(lab)
    old = store.read(place)
    del old["program"]["options"]
    store.write(place, old)
    assert hint()["args"] == "-n 3 /x"


def test_a_program_is_compiled_again_only_if_it_must_be(lab, source):
    def made(cflags=""):
        return compiler.compiled(lab, source, cflags, "pentium")

    first = made()
    assert made() == first
    assert len(compiled(source)) == 1
    assert made("-O3") != first
    assert compiler.compiled(lab, source, "", "x86-64") != first
    assert len(compiled(source)) == 3
    source.with_name("own header.h").write_text("// changed")
    assert made() == first
    assert len(compiled(source)) == 4
    source.write_text("int main(void) { return 1; }\n")
    made()
    assert len(compiled(source)) == 5
    first.write_bytes(b"damaged")
    made()
    assert len(compiled(source)) == 6
    assert first.read_bytes().endswith(b"return 1; }\nsymbols")
    source.with_name("own header.h").unlink()
    made()
    made()  # without a complete list of inputs, the compiler must decide
    assert len(compiled(source)) == 8


def test_a_program_in_c_gets_the_library_of_the_workloads(lab, source):
    other = source.with_name("other.s")
    other.write_text("")
    cflags = f"-DX -lm -L/own -l mine -Wl,-T,own.ld -Xlinker -Map=x {shlex.quote(str(other))}"
    compiler.compiled(lab, source, cflags, "pentium")
    log = [json.loads(line) for line in source.with_name("log").read_text().splitlines()]
    assert [words[words.index("-c") + 1] for words in log[:2]] == [str(source), str(other)]
    for words in log[:2]:
        assert "-DX" in words
        assert "-mrelocation-model" in words
        assert not {"-lm", "-L/own", "-lmine", "-T"} & set(words)
    link = log[2]
    assert link[0] == "ld.lld"
    assert {"-L/own", "-lmine", "-T", "own.ld", "-Map=x"} <= set(link)
    assert "-lm" not in link  # libc.a contains it
    assert str(lab.root / compiler.C_LIBRARY / "libc.a") in link
    assert "--strip-debug" not in link


def test_a_new_library_makes_the_program_again(lab, source):
    made = compiler.compiled(lab, source, "", "pentium")
    lab._put(f"{compiler.C_LIBRARY}/libc.a", "new")
    assert compiler.compiled(lab, source, "", "pentium") == made
    assert len(compiled(source)) == 2


def test_errors_and_warnings_are_those_of_the_compiler(lab, source, capsys):
    source.write_text("#error\n")
    assert cli.main(["run", "--program", str(source), *RUN], lab) == 1
    said = capsys.readouterr().err
    assert f"{source}: the compiler reports errors:\n{source}:1:2: error: \\x1b[1mas asked" in said
    assert not lab.results.exists()
    source.write_text("#warning\n")
    for _ in range(2):  # also when the program is up to date
        compiler.compiled(lab, source, "", "pentium")
        assert capsys.readouterr().err.endswith(f"{source}:1:2: warning: careful\n")
    assert len(compiled(source)) == 2
    assert not list(lab.root.glob("build/programs/*/tmp*"))


@pytest.mark.parametrize(
    ("name", "cflags", "message"),
    [
        ("none.c", "", "--program .*none.c: no such file"),
        ("folder.c", "", "--program .*folder.c: not a file"),
        ("my prog.c", "'-DX", "--cflags: no closing quotation"),
        ("hello", "-O3", r"--cflags: expected with a source file \(.c, .*hello is not one"),
    ],
)
def test_what_cannot_be_compiled_is_refused(lab, source, name, cflags, message):
    source.with_name("folder.c").mkdir()
    with pytest.raises(UserError, match=message):
        prepare(
            lab,
            Request(UserProgram(source.with_name(name), cflags=cflags), Filter(guests=("toy",))),
        )
    assert compiled(source) == []


@pytest.mark.parametrize("arguments", ["'a b'", "''", "ä"])
def test_arguments_are_checked_before_anything_is_compiled(lab, source, arguments, capsys):
    assert cli.main(["run", "--program", str(source), "--args", arguments], lab) == 2
    assert capsys.readouterr().err.startswith("p5lab: --args: ")
    assert compiled(source) == []


def test_the_standard_input_is_a_part_of_the_program(lab, source, tmp_path):
    lab._put(compiler.INPUT_SOURCE, "")
    given = tmp_path / "in.txt"
    found = []
    for content in (b"", b"1\0\xff", b"1\0\xfe"):
        given.write_bytes(content)
        asked = UserProgram(source, files=ProgramFiles(stdin=given))
        (run,) = prepare(lab, Request(asked, Filter(guests=("toy",)))).runs
        assert run.label == "my prog.c <in.txt, toy, p90-premiere2"
        assert run.program.recorded["stdin"] == "in.txt"
        image = run.program.path.read_bytes()
        end = content + len(content).to_bytes(8, "little")
        assert image.endswith(b"symbols" + end)
        record = json.loads(run.program.path.with_name(compiler.MADE).read_text())
        assert str(given) in record["inputs"]
        assert record["program"] == hashlib.sha256(image).hexdigest()
        found.append(run.program.path)
    assert len(set(found)) == 3
    assert len(compiled(source)) == 2  # the program and the file of p5lab, for all inputs
    assert compiler.compiled(lab, source, "", "pentium") not in found


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--program", "hello", "--stdin", "in.txt"], "--stdin: expected with a source file"),
        (["--program", "a.c", "--stdin", "none"], "--stdin none: no such file or directory"),
        (["--program", "a.c", "--stdin", "."], "--stdin .: a directory"),
        (["--program", "a.c", "--stdin", "large"], "--stdin large: 8.4 MB; expected at most"),
        (["--program", "a.c", "--cflags=-nostdlib", "--stdin", "in.txt"], "without --cflags -no"),
        (["--program", "a.c", "--file", "x:/y", "--stdin", "in.txt"], "--file: expected with"),
    ],
)
def test_what_cannot_be_a_standard_input(lab, source, words, message, monkeypatch, capsys):
    lab._put(compiler.INPUT_SOURCE, "")
    monkeypatch.chdir(source.parent)
    source.with_name("a.c").write_text("")
    source.with_name("in.txt").write_text("1")
    source.with_name("large").write_bytes(bytes(8_390_000))
    assert cli.main(["run", *words, *RUN], lab) == 2
    said = capsys.readouterr().err
    assert message in said
    assert len(said.splitlines()) == 1
    assert not lab.results.exists()


@pytest.mark.parametrize(
    ("content", "wanted"), [(b"", None), (b"a\0\n", b"a\0\n"), (b"x" * 200_000, b"x" * 200_000)]
)
def test_a_pipe_into_the_command(lab, content, wanted, monkeypatch, capsys):
    end, begin = os.pipe()
    with os.fdopen(begin, "wb") as writer, os.fdopen(end, "rb") as reader:
        monkeypatch.setattr(piped, "DESCRIPTOR", reader.fileno())
        assert piped.standard_input(lab, None, is_program=False) is None  # stays unread
        feeder = threading.Thread(target=lambda: (writer.write(content), writer.close()))
        feeder.start()
        found = piped.standard_input(lab, None, is_program=True)
        feeder.join()
    assert (found.read_bytes() if found else None) == wanted
    assert ("--stdin /dev/null" in capsys.readouterr().err) == (wanted is None)


def test_a_dash_and_devices_are_read_to_their_end(lab, tmp_path, monkeypatch):
    given = tmp_path / "given"
    given.write_bytes(b"abc")
    with given.open("rb") as file:
        monkeypatch.setattr(piped, "DESCRIPTOR", file.fileno())
        # A file in the place of standard input belongs to the shell's loop around the command.
        assert piped.standard_input(lab, None, is_program=True) is None
        assert piped.standard_input(lab, Path("-"), is_program=True).read_bytes() == b"abc"
    assert piped.standard_input(lab, Path("/dev/null"), is_program=True).read_bytes() == b""
    monkeypatch.setattr(piped, "MOST_INPUT", 4_000_000)
    with pytest.raises(UserError, match="--stdin /dev/zero: expected at most 4,000,000 bytes"):
        piped.standard_input(lab, Path("/dev/zero"), is_program=True)


def test_cflags_need_a_program(lab, capsys):
    assert cli.main(["run", "tests", "--cflags", "-O3"], lab) == 2
    assert "--cflags: expected with --program" in capsys.readouterr().err


def test_the_compiler_of_the_workloads_makes_a_program_with_lines(lab, tmp_path, built):
    libc = lab.root / compiler.C_LIBRARY
    libc.parent.mkdir(parents=True)
    libc.symlink_to(built(f"{compiler.C_LIBRARY}/libc.a").parent)
    source = tmp_path / "real.c"
    source.write_text(
        '#include <stdio.h>\n#include "marker.h"\nint main(void) {\n'
        '  p5_begin(0);\n  puts("hi");\n  p5_end(0);\n  return 0;\n}\n'
    )
    marker = Path(__file__).resolve().parents[2] / "workloads/lib"
    lab._put("workloads/lib/keep", "")
    for header in marker.glob("*.h"):
        lab._put(f"workloads/lib/{header.name}", header.read_text())
    made = compiler.compiled(lab, source, "", "pentium")
    record = json.loads(made.with_name(compiler.MADE).read_text())
    assert str(source) in record["inputs"]
    assert str(lab.root / "workloads/lib/marker.h") in record["inputs"]
    (run,) = prepare(lab, Request(UserProgram(source), Filter(guests=("toy",)))).runs
    names = functions._by_line(
        functions._functions(Elf(made.read_bytes()).symbols, 1 << 32), Elf(made.read_bytes())
    )
    assert any(f"main\t{source}:5\n" in line for line in names)
    assert any("puts" in line for line in names)
    assert not any("ziglang" in line for line in names)  # the C library has only its symbols
    assert compiler.compiled(lab, source, "-s", "pentium").stat().st_size < made.stat().st_size
    assert run.label == "real.c, toy, p90-premiere2"


# --- regions and lines ----------------------------------------------------------------------------


def observed(lab, program, *wishes):
    choice = Filter(guests=("toy",), observation=Observation.of(*wishes))
    (run,) = prepare(lab, Request(UserProgram(program), choice)).runs
    return run


def test_a_region_is_the_place_of_the_function_in_the_program(lab, tmp_path):
    program = built(tmp_path)
    run = observed(lab, program, Region("work"))
    run.observation.check(run)
    content = program.read_bytes()
    (work,) = (one.address for one in Elf(content).symbols if one.name == "work")
    page = functions.pages(Elf(content))[work & ~0xFFF]
    assert run.observation.inputs(lab, run) == {
        "region.txt": f"fixed {work:x} {page:x} work\n".encode()
    }
    assert run.observation.job() == {"run.region": "region.txt"}
    assert run.label == "prog, toy, p90-premiere2, region work"
    assert run.parameters == {"file": "prog", "region": "work"}
    moved = built(tmp_path, "-static-pie", "-fpie")
    run = observed(lab, moved, Region("work"))
    assert run.observation.inputs(lab, run)["region.txt"].startswith(b"moved ")


@pytest.mark.parametrize(
    ("options", "function", "message"),
    [
        ((), "worc", r"^--region worc: prog has .*; did you mean 'work'\? A compiler .*noinline"),
        ((), "zzzzz", r"^--region zzzzz: prog has .*; `nm /\S+/prog` lists its functions\. A"),
        (("-s",), "work", "--region work: prog has no symbols: expected .* not stripped"),
    ],
)
def test_a_region_that_does_not_exist(lab, tmp_path, options, function, message):
    run = observed(lab, built(tmp_path, *options), Region(function))
    with pytest.raises(UserError, match=message):
        run.observation.check(run)


def test_a_region_needs_a_program_of_the_user(lab, capsys):
    assert cli.main(["run", "tests", "--region", "main", "--no-build"], lab) == 2
    assert "--region: expected with --program FILE" in capsys.readouterr().err


def test_the_calls_of_a_region_are_a_phase_with_its_name(lab, tmp_path, capsys):
    program = built(tmp_path)

    def inner(calls, measured):
        lines = []
        for call in range(measured):
            lines += [
                snapshot("begin", REGION_PHASE, [500, 0, 100], [20 + 10 * call, 0, 10]),
                snapshot("end", REGION_PHASE, [500, 0, 100], [26 + 10 * call, 0, 12]),
            ]
        for what, count in (("region-calls", calls), ("region-measured", measured)):
            lines.append({"type": "note", "what": what, "name": "work", "count": count})
        return lines

    words = ["run", "--program", str(program), "--region", "work", "--force", "--format", "csv"]
    for calls, measured, remark in (
        (2, 2, "Region work: 2 calls.\n"),
        (5000, 2, "Region work: 5,000 calls. The counts are those of the first 2 calls.\n"),
        (1, 1, "Region work: 1 call.\n"),
        (0, 0, "Region work: the program did not call this function. A compiler can"),
    ):
        lab.behave(events=whole(*inner(calls, measured)))
        for old in lab.results.glob("program/*/run.json"):
            old.unlink()
        assert cli.main([*words, *RUN], lab) == 0
        printed = capsys.readouterr()
        assert remark in printed.err
        values = {
            row["phase"]: row["value"]
            for row in csv.DictReader(printed.out.splitlines())
            if row["metric"] == "busy cycles"
        }
        assert values == {"whole": "480.0"} | ({"work": "6.0"} if measured else {})
    assert region_calls.remark({}) == ""


def test_counts_by_line_need_debug_information(lab, tmp_path):
    run = observed(lab, built(tmp_path), AttributedCounts(("lines",)))
    with pytest.raises(UserError, match="--attribute lines: prog has no debug information: exp"):
        run.observation.check(run)
    (run,) = experiment.load(
        lab,
        "tests",
        Filter(workloads=("call",), observation=Observation.of(AttributedCounts(("lines",)))),
    )
    with pytest.raises(UserError, match="--attribute lines: call has no debug information"):
        run.observation.check(run)


def test_a_run_by_line_keeps_the_source_as_it_was(lab, tmp_path):
    program = built(tmp_path, "-g")
    lab._put("build/guests/toy/vmlinux", built(tmp_path).read_bytes())
    program = built(tmp_path, "-g")
    run = observed(lab, program, AttributedCounts(("lines",)))
    run.observation.check(run)
    files = run.observation.inputs(lab, run)
    source = tmp_path / "prog.c"
    assert json.loads(files["sources.json"])["files"] == {str(source): source.read_text()}
    assert f"work\t{source}:7\n".encode() in files["functions.txt"]
    plain = observed(lab, program, AttributedCounts(("functions",)))
    assert b"\t" not in plain.observation.inputs(lab, plain)["functions.txt"]
