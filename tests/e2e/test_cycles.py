# SPDX-License-Identifier: MIT
"""`./p5lab cycles`: fragments of code take the clocks that a guest measures for the same code."""

import ast
import json
import multiprocessing
import re
from dataclasses import replace
from itertools import pairwise
from statistics import median_low

import pytest

import p5lab
from p5lab.cli.main import main
from p5lab.describe import experiment, machine, workload
from p5lab.execute import fragment as execution
from p5lab.execute.runner import Runner
from p5lab.host import compiler, delivered
from p5lab.prepare import fragment as preparation
from p5lab.present import fragment_clocks
from p5lab.progress import Progress
from p5stats import events

MACHINE = "p90-premiere2"
SEQUENCES = ("pairing", "timed-instructions")
ROUNDS = 20  # of a sequence's loop
ENDS = 80  # clocks
CODE = {"pairing": "micro", "timed-instructions": "micro", "timed-loops": "micro"}
# Code that never comes from a warm cache, and a loop that the guest measures with clock ticks.
NOT_STEADY = ("cold code, 1 byte", "cold code, 2 bytes", "delay")
# What the code in a guest evicts depends on the code beside it, if that is fetched ahead.
ALONE = {"fetch.ahead": "false"}
WORDS = (240, 120)  # of the two runs of timed-loops
# The memory of lib/sequence.h, and the data of timed-loops.c.
CALLER = """
  .globl fragment_of_test
fragment_of_test:
  movl $2, arguments + 32
  movl $0, arguments + 20
  pushl $arguments
  call sequence_{number}
  popl %eax
  ret
  .data
  .balign 32
arguments: .long 1, {ecx}, 0, data, data + 128, 0, 2, 0x50354C42, 0, 0, 0, 0
  .text
"""
SEQUENCE_DATA = """
  .data
  .balign 1024
data: .fill 16, 4, 1
  .long data
  .fill 111, 4, 1
  .fill 128, 4, 0x3F800000
"""
LOOP_DATA = """
  .data
  .balign 4096
  .globl to, from, other
to: .fill 248, 4, 0
  .macro words by
  .set i, 0
  .rept 248
  .set i, i + 1
  .long (\\by * i) & 0xFFFFFFFF
  .endr
  .endm
from: words 0x9E3779B9
other: words 0x85EBCA6B
  .balign 32
ones:
  .set i, 0
  .rept 256
  .byte ((i>>0)&1)+((i>>1)&1)+((i>>2)&1)+((i>>3)&1)+((i>>4)&1)+((i>>5)&1)+((i>>6)&1)+((i>>7)&1)
  .set i, i + 1
  .endr
"""


@pytest.fixture(scope="module")
def counted(own_lab):
    """By workload and name of the phase: the busy cycles of each bracket in the guest. A workload
    that runs twice has a list for each run."""
    runs = [
        replace(run, machine=run.machine.with_set(ALONE, "test"))
        for name in ("validation", "timed-instructions", "timed-loops")
        for run in experiment.load(own_lab, name)
        if run.workload.name in CODE
    ]
    delivered.ensure(own_lab, runs, Progress())
    stored = Runner(own_lab, jobs=multiprocessing.cpu_count()).run_all(runs)
    assert [(one.status, one.reason) for one in stored] == [("ok", "")] * len(runs)
    names = {name: one.phases for name, one in workload.load(own_lab).items()}
    found = {}
    for run, result in zip(runs, stored, strict=True):
        parsed = events.parse(result.directory / "events.jsonl")
        index = list(parsed.units).index("cycles.busy")
        for one in parsed.brackets:
            phase = names[run.workload.name].get(one.phase, "empty")
            grown = [
                sum(bank[index] for bank in marker.banks.values())
                for marker in (one.begin, one.end)
            ]
            words = run.parameters.get("words", 0) if run.workload.name == "timed-loops" else 0
            key = run.workload.name, phase, int(words)
            found.setdefault(key, []).append(grown[1] - grown[0])
    return found


@pytest.fixture(scope="module")
def texts(lab):
    """The assembler text of each workload's asm statements."""

    def read(name):
        source = lab.root / f"workloads/{CODE[name]}/{name}/{name}.c"
        includes = ("-I", str(lab.root / "workloads/lib"))
        words = ["cc", "-target", "x86-linux-musl", "-mcpu=pentium", *includes, "-E", str(source)]
        words += ["-I", str(lab.root / "guest-images/parts/rootfs")]
        words += ["-I", str(lab.root / "guest-images/linux/p5ctr")]
        text = re.sub(r"^#.*\n", "", compiler.run_zig(words), flags=re.MULTILINE)
        blocks = re.findall(r'__asm__\(((?:\s*"(?:[^"\\]|\\.)*")+)\s*\)', text)
        texts = [
            "".join(ast.literal_eval(one) for one in re.findall(r'"(?:[^"\\]|\\.)*"', block))
            for block in blocks
        ]
        return [one for one in texts if one.startswith((".text", ".macro"))]

    return {name: read(name) for name in CODE}


@pytest.fixture(scope="module")
def timed(lab, tmp_path_factory):
    """Times assembler text. Returns the clocks and the issues of the last call."""
    board = machine.load(lab, MACHINE).with_set(ALONE, "test")

    def clocks(text, **options):
        path = tmp_path_factory.mktemp("fragment") / "fragment.s"
        path.write_text(text)
        fragment, issues = execution.traced(lab, board, preparation.made(lab, str(path), **options))
        return fragment_clocks.of(fragment, issues), issues

    return clocks


def bracket(issues, fragment):
    """The clocks between the last two markers. A marker follows the instruction that loads its
    argument, takes no time and is not among the issues."""
    load = "mov 0x18(%edi),%edx"
    places = [
        i
        for i, one in enumerate(issues)
        if fragment.contains(one.address) and fragment.text(one.address) == load
    ]
    first, last = (issues[place + 1].clock for place in places[-2:])
    return last - first


@pytest.mark.parametrize("name", SEQUENCES)
def test_sequences_take_what_the_guest_measures(lab, counted, texts, timed, name, full):
    """The instruction sequences of pairing and timed-instructions; without --full, every tenth. The
    guest's number is that of a bracket; the fragment is the workload's own function. The rounds in
    the steady state differ from the bracket by what the first and the last round cost."""
    phases = workload.load(lab)[name].phases
    macros, *bodies = [one for one in texts[name] if "sequence_" in one]
    numbers = {int(re.search(r"sequence_(\d+):", body)[1]): body for body in bodies}

    def clocks(number):
        code = CALLER.format(number=number, ecx={"pairing": 2}.get(name, 1))
        text = code + macros + numbers[number] + SEQUENCE_DATA
        found, issues = timed(text, function="fragment_of_test")
        return bracket(issues, found.fragment), found.loops[0].steady

    empty, round_of_empty = clocks(0)
    less = median_low(counted[name, "empty", 0])
    wrong, compared = [], 0
    measured = [n for n in phases if n in numbers and n and phases[n] not in NOT_STEADY]
    for number in measured if full else measured[::10]:
        phase = phases[number]
        whole, steady = clocks(number)
        guest = min(counted[name, phase, 0])
        compared += 1
        rounds = ROUNDS * (steady - round_of_empty)
        if (whole, empty) != (guest, less) or abs(rounds - (guest - less)) > ENDS:
            wrong.append((phase, whole, rounds, guest, less))
    assert wrong == []
    assert len(measured) >= 65 and compared >= 7


def test_loops_take_what_the_guest_measures(lab, counted, texts, timed, full):
    """The loops of timed-loops, by the clocks of 120 words; without --full, every fifth."""
    phases = workload.load(lab)["timed-loops"].phases
    source = (lab.root / "workloads/micro/timed-loops/timed-loops.c").read_text()
    names = {int(n): name for n, name in re.findall(r"\{(\d+), (loop_\w+),", source)}
    code = "\n".join(texts["timed-loops"]) + LOOP_DATA
    code += "".join(f"\n.globl {name}" for name in names.values()) + "\n"
    wrong, compared = [], 0
    measured = [number for number in names if phases[number] not in NOT_STEADY]
    for number in measured if full else measured[::5]:
        phase, name = phases[number], names[number]
        many, few = (
            timed(code, function=name, arguments=("to", "from", "other", str(words)))[0].call
            for words in WORDS
        )
        more, less = (min(counted["timed-loops", phase, words]) for words in WORDS)
        compared += 1
        if many - few != more - less:
            wrong.append((phase, many - few, more - less))
    assert wrong == []
    assert len(measured) == 23 and compared >= 5


def test_a_loop_of_pairs(tmp_path, capsys, monkeypatch):
    """The clocks follow from the rules: a pair, a pair, and JNZ alone."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop.s").write_text(
        "1: movl (%esi), %eax\n addl $4, %esi\n addl %eax, %edx\n decl %ecx\n jnz 1b\n"
    )
    assert main(["cycles", "loop.s", "--konata", "no/loop.kanata"]) == 2
    assert capsys.readouterr().out == ""
    assert main(["cycles", "loop.s", "--format", "json", "--konata", "loop.kanata"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["in_v"] for row in rows] == [0, 1, 0, 1, 0]
    assert [row["clocks"] for row in rows] == [1, 0, 1, 0, 1]
    assert rows[4]["not_in_v"] == "takes no companion"
    trace = kanata((tmp_path / "loop.kanata").read_text())
    assert len(trace) == 500
    begun = [one["stages"]["X"] for one in trace[250:260]]
    assert [clock - begun[0] for clock in begun] == [0, 0, 1, 1, 2, 3, 3, 4, 4, 5]


def test_a_fragment_has_the_ideal_parts_of_its_machine(tmp_path, capsys):
    assert main(["cycles", "neg %eax; neg %ebx", "--format", "json"]) == 0
    plain = sum(row["clocks"] for row in json.loads(capsys.readouterr().out)["rows"])
    words = ["cycles", "neg %eax; neg %ebx", "--set", "ideal.pairing=true", "--format", "json"]
    assert main(words) == 0
    assert (plain, sum(row["clocks"] for row in json.loads(capsys.readouterr().out)["rows"])) == (
        2,
        1,
    )


@pytest.mark.parametrize(
    "text", ["mov eax, [esi]; add edx, ebx", "mov (%esi), %eax; add %ebx, %edx"]
)
def test_both_syntaxes_are_read_and_shown(capsys, text):
    assert main(["cycles", text, "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert [row["in_v"] for row in rows] == [0, 1]
    assert ["%" in row["instruction"] for row in rows] == ["%" in text] * 2


def test_one_word_is_an_instruction(capsys):
    assert main(["cycles", "fsqrt", "--format", "json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["rows"]
    assert row["instruction"] == "fsqrt"
    assert main(["cycles", "no-such-file"]) == 2
    assert "no such file" in capsys.readouterr().err


def test_an_include_is_found_beside_the_file(tmp_path, capsys):
    (tmp_path / "part.s").write_text("add eax, ebx\n")
    (tmp_path / "whole.s").write_text('dec ecx\n.include "part.s"\nfrob eax\n')
    assert main(["cycles", str(tmp_path / "whole.s")]) == 2
    assert "whole.s:3: " in capsys.readouterr().err
    (tmp_path / "whole.s").write_text('dec ecx\n.include "part.s"\n')
    assert main(["cycles", str(tmp_path / "whole.s"), "--format", "json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["rows"]) == 2


def test_a_fault_in_the_c_library_is_not_the_call_that_led_to_it(tmp_path, capsys):
    (tmp_path / "said.c").write_text(
        'int puts(const char *);\nint f(void) { return 1 + puts(""); }\n'
    )
    assert main(["cycles", str(tmp_path / "said.c")]) == 1
    said = capsys.readouterr().err
    assert "said.c:2: `call puts`: exception" in said
    assert "in a function that it calls" in said and "does not have" not in said


def test_python_returns_the_table(monkeypatch):
    table = p5lab.cycles("add %eax, %ebx; mov (%esi), %ecx", registers={"esi": "memory+64"})
    assert list(table["clocks"]) == [1, 0] and list(table["in_v"]) == [0, 1]
    with pytest.raises(p5lab.UserError, match="frob"):
        p5lab.cycles("frob %eax")


def test_a_function_in_c_is_called(tmp_path, capsys):
    source = tmp_path / "sum.c"
    source.write_text(
        "int sum(const int *a, int n) {\n  int s = 0;\n  for (int i = 0; i < n; i++)\n"
        "    s += a[i] / 3;\n  return s;\n}\nint twice(int a) { return 2 * a; }\n"
    )
    assert main(["cycles", str(source)]) == 2
    assert "sum, twice" in capsys.readouterr().err
    (tmp_path / "empty.c").write_text("/* */\n")
    assert main(["cycles", str(tmp_path / "empty.c")]) == 2
    assert "expected a function that is not static; the file has none" in capsys.readouterr().err
    words = ["cycles", str(source), "--function", "sum", "--format", "json", "--args"]
    assert main([*words, "memory,10"]) == 0
    ten = sum(row["times"] for row in json.loads(capsys.readouterr().out)["rows"])
    assert main([*words, "memory,20"]) == 0
    assert sum(row["times"] for row in json.loads(capsys.readouterr().out)["rows"]) > ten + 20


@pytest.mark.parametrize(
    ("text", "status", "said"),
    [
        ("mov %eax, %ebx\n frob %eax\n", 2, ("x.s:2", "frob")),
        ("nop\n cmovz %eax, %ebx\n", 1, ("x.s:2", "cmov", "does not have this instruction")),
        ("xor %ecx, %ecx\n div %ecx\n", 1, ("x.s:2", "div", "#DE")),
        ("1: inc %eax\n jmp 1b\n", 1, ("x.s", "does not end")),
        ("hlt\n", 1, ("x.s", "does not end")),
        ("call nowhere\n", 2, ("x.s", "nowhere")),
        (".data\n .long 1\n", 2, ("x.s", "no code")),
    ],
)
def test_bad_fragments_get_one_line(tmp_path, capsys, monkeypatch, text, status, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "x.s").write_text(text)
    assert main(["cycles", "x.s"]) == status
    out, err = capsys.readouterr()
    assert out == "" and err.count("\n") == 1
    for word in said:
        assert word in err


def kanata(text):
    """Parses a trace in the format Kanata 4. Returns the instructions in the order of their ids,
    with `text`, `details`, `stages` (the clock at which each begins) and `retired`."""
    lines = text.splitlines()
    assert lines[0] == "Kanata\t0004"
    clock, found = None, []
    for line in lines[1:]:
        kind, *words = line.split("\t")
        if kind == "C=":
            assert clock is None
            clock = int(words[0])
        elif kind == "C":
            assert int(words[0]) > 0
            clock += int(words[0])
        elif kind == "I":
            assert [int(word) for word in words] == [len(found), len(found), 0]
            found.append({"text": "", "details": "", "stages": {}, "retired": None})
        elif kind == "L":
            found[int(words[0])][("text", "details")[int(words[1])]] += words[2]
        elif kind == "S":
            one = found[int(words[0])]
            assert words[1] == "0" and one["retired"] is None and words[2] not in one["stages"]
            one["stages"][words[2]] = clock
        elif kind == "R":
            assert words[1:] == [words[0], "0"]
            found[int(words[0])]["retired"] = clock
        else:
            raise AssertionError(line)
    assert all(one["text"] and one["retired"] is not None for one in found)
    return found


def test_the_trace_has_the_stages_of_a_pipeline_in_order(tmp_path, capsys):
    """In a loop with an address that must wait, a prefix, and a branch that is mispredicted."""
    text = "1: mov %ebx, %edi; mov (%edi), %eax; .byte 0x66; inc %eax; imul %eax, %edx; loop 1b"
    assert main(["cycles", text, "--konata", str(tmp_path / "k")]) == 0
    trace = kanata((tmp_path / "k").read_text())
    order = ("F", "D1", "D2", "X", "W")
    for one in trace:
        assert list(one["stages"]) == list(order)
        clocks = [*one["stages"].values(), one["retired"]]
        assert all(a < b for a, b in pairwise(clocks))
    for stage in order:
        begun = [one["stages"][stage] for one in trace]
        assert begun == sorted(begun), stage
    # The load waits for EDI in D2.
    load = trace[251]
    assert "agi 1" in load["details"]
    assert load["stages"]["X"] - load["stages"]["D2"] >= 2
