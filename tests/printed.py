# SPDX-License-Identifier: MIT
"""The command lines and Python examples that the documents print.

A fence without a language, or with the language `sh`, contains command lines and nothing else.
Each command line belongs to exactly one class. The tests of each class are in
unit/test_printed_commands.py and e2e/test_typed_commands.py.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from p5lab.host import worktree

REPO = Path(__file__).resolve().parents[1]
HISTORY = "CHANGELOG.md"
FENCE = re.compile(r"^( *)```([\w+]*)[^\n]*\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)
SPAN = re.compile(r"`((?:[A-Z0-9_]+=\S+ )*\./p5lab [^`\n]+)`")
ASSIGNED = re.compile(r"^[A-Z0-9_]+=")
SHELL = ("", "sh")
# Words of a command line that stand for something else, and an example of each.
PLACEHOLDERS = {
    "EXPERIMENT": "smoke",
    "COMMAND": "run",
    "SHELL": "bash",
    "GUEST": "linux",
    "WORKLOAD": "getpid",
    "RUN": "3f2a91",
    "SECONDS": "1.5",
    "FILE": "file",
    "DIR": "directory",
    "URL": "http://mirror/debian",
    "...": "",
}

# --- the classes ----------------------------------------------------------------------------------

# e2e/test_typed_commands.py runs these commands one after the other in a laboratory without
# results. RUN stands for the run of the command above.
SESSION = """
./p5lab run smoke
./p5lab run smoke --set l2.size=512K
./p5lab run smoke --sweep l2.size=128K,256K
./p5lab run smoke --sweep l2.size=128K,256K --metric cycles,l2_read_misses
./p5lab show smoke
./p5lab run smoke --workload dup --force
./p5lab run smoke --format csv
./p5lab report smoke --export figures
./p5lab report smoke --sweep l2.size=128K,256K
./p5lab run smoke --workload dup --trace crossings
./p5lab show RUN --crossings
./p5lab show RUN --timeline
./p5lab run smoke --workload dup --trace accesses
./p5lab run smoke --workload dup --attribute functions
./p5lab show RUN --attribution --by function,crossing --event l2_read_misses
./p5lab run chen95-core --workload dup --guest linux --attribute functions
./p5lab show RUN --attribution
./p5lab show RUN --attribution --by function,ring,crossing --event l2_read_misses --top 10
./p5lab run chen95-core --workload exec-static --guest linux --attribute stacks
./p5lab show RUN --speedscope exec.json --event cycles.busy
./p5lab run chen95-core --workload create --guest linux --attribute misses
./p5lab show RUN --attribution --by function,module --event l2_read_misses.conflict
./p5lab run chen95-core --workload exec-static --guest linux --cpi --attribute stacks
./p5lab show RUN --speedscope exec.json --event cpi
./p5lab run chen95-core --workload exec-static --guest linux --cpi --trace crossings
./p5lab run chen95-core --workload dup --cpi
./p5lab show chen95-core --cpi
./p5lab run smoke --set ideal.l1i=true
./p5lab report chen95-core
./p5lab rerun RUN
./p5lab run --program ./a.out --args "-n 3" --guest linux
./p5lab report program
./p5lab show RUN
./p5lab diff RUN RUN
./p5lab report RUN RUN
./p5lab list [experiments|machines|guests|workloads|programs|notebooks|runs]
./p5lab list programs
./p5lab query "SELECT guest, status, count(*) FROM runs GROUP BY ALL"
./p5lab plan chen95-core --sweep l2.size=128K,256K,512K
./p5lab matrix
./p5lab keys
./p5lab gc
./p5lab completion bash > ~/.local/share/bash-completion/completions/p5lab
./p5lab help [COMMAND]
"""

# Other tests run these commands. The test file must contain the text on the right.
ELSEWHERE = {
    "./p5lab run chen95-core": ("e2e/test_chen95_core.py", '"run", "chen95-core"'),
    "./p5lab run chen95-method": ("e2e/test_chen95_method.py", "chen95-method"),
    "./p5lab run chen95-method --workload counted": ("e2e/test_analysis.py", "chen95-method"),
    "./p5lab run chen95-core --workload getpid --workload dup --workload cswitch": (
        "e2e/test_analysis.py",
        '"getpid", "dup", "cswitch"',
    ),
    "./p5lab run page-colours": ("e2e/test_analysis.py", "page-colours"),
    "./p5lab run smoke --workload getpid --calls": (
        "e2e/test_counts_by_call.py",
        '"smoke", "--workload", "getpid", "--calls"',
    ),
    "./p5lab show RUN --calls": ("e2e/test_counts_by_call.py", '"show", made.name, "--calls"'),
    "./p5lab run chen95-core --workload exec-static --guest linux --cpi --interval 1000003": (
        "e2e/test_intervals_of_a_run.py",
        '"chen95-core", "--workload", "exec-static", "--guest", "linux"',
    ),
    "./p5lab show RUN --intervals": (
        "e2e/test_intervals_of_a_run.py",
        '"show", stored.id, "--intervals"',
    ),
    "./p5lab show RUN --modes": ("e2e/test_counts_by_call.py", '"show", made.name, "--modes"'),
    "./p5lab explain chen95-core linux linux-uml": (
        "e2e/test_cpi_stack.py",
        '"explain", "chen95-core", "linux", "linux-uml"',
    ),
    "./p5lab explain chen95-core linux linux-uml --single": (
        "e2e/test_cpi_stack.py",
        '[*words, "--single"]',
    ),
    "./p5lab explain chen95-core linux linux-uml --by crossing --single": (
        "e2e/test_cpi_stack.py",
        '"--single", "--by"',
    ),
    "./p5lab run chen95-core --workload dup --cpi --attribute functions": (
        "e2e/test_cpi_stack.py",
        '"--cpi", "--attribute", "functions"',
    ),
    "./p5lab run chen95-core --workload dup --guest linux --cpi --attribute functions": (
        "e2e/test_cpi_stack.py",
        '"--cpi", "--attribute", "functions"',
    ),
    "./p5lab show chen95-core --ideal": ("e2e/test_ideal.py", '"show", "smoke", "--ideal"'),
    "./p5lab shell linux": ("e2e/test_commands.py", '"shell", guest'),
    "./p5lab doctor": ("unit/test_doctor.py", "doctor"),
    "./p5lab docs": ("unit/test_documents.py", '"docs", "--no-build"'),
    "./p5lab notebook": ("unit/test_notebook_command.py", '["notebook", *arguments]'),
    "./p5lab bench": ("unit/test_bench.py", "bench"),
    "./p5lab test": ("unit/test_testing.py", "testing"),
}
# The reader's own C file. These tests use other sources, except the test of matrix.c, and may add
# options.
_ATTRIBUTED = ("e2e/test_region_and_lines.py", '"--region", "multiply", "--attribute", "lines"')
_REGION = ("e2e/test_region_and_lines.py", '"--region", "work", "--attribute", "lines"')
ELSEWHERE |= {
    "./p5lab run --program hello.c": _REGION,
    "./p5lab run --program matrix.c": _ATTRIBUTED,
    './p5lab run --program hello.c --cflags "-O3 -DN=64"': (
        "unit/test_own_program.py",
        '"--cflags", "-O3 ',
    ),
    "./p5lab run --program hello.c --region work": _REGION,
    "./p5lab run --program hello.c --attribute lines": _REGION,
    "./p5lab run --program matrix.c --region multiply": _ATTRIBUTED,
    "./p5lab run --program matrix.c --attribute lines": _ATTRIBUTED,
    "./p5lab show RUN --attribution --source": (
        "e2e/test_region_and_lines.py",
        '"--attribution", "--source"]',
    ),
    "./p5lab run --program matrix.c --sweep l1d.size=4K,8K,16K": (
        "unit/test_own_program.py",
        '"run", "--program", str(program), *sweep',
    ),
}
TUTORIAL = "docs/start/tutorial.md"  # evidence/tutorial.py runs all commands of this document

# Commands that would take minutes, or that need a host that the tests do not have. The parser of
# the command line reads them, and the experiments, machines, guests, workloads and keys exist.
ONLY_PARSED = {
    r"./p5lab run .* --clocks nominal( --cpi)?": "e2e/test_nominal_clocks.py boots this guest",
    r"./p5lab run .*--engine (gem5|native|NAME).*": "needs gem5, or measures this host",
    r"./p5lab cross-check.*": "needs gem5",
    r"./p5lab run (micro|geometries|chen95|what-if|disk)( .*)?": "takes minutes",
    r"./p5lab run smoke --sweep l2.size=128K,256K,512K --sweep l2.ways=1,2": "takes a minute",
    r"./p5lab run smoke --machine p90-premiere2 --machine p133-triton": "e2e/test_machines.py",
    r"./p5lab run smoke --machine p90-premiere2 --machine p75-small": "the reader's own machine",
    r"./p5lab run smoke --set l1d.replacement=NAME": "the reader's own policy",
    r"./p5lab run smoke --guest NAME": "the reader's own guest",
    r"./p5lab shell NAME": "the reader's own guest",
    r"./p5lab shell --(disk|floppy) .*": (
        "needs the reader's own media (e2e/test_screen_shell.py has small systems)"
    ),
    r"./p5lab run --program matrix.c --attribute functions": (
        "SESSION counts a workload by function; e2e/test_region_and_lines.py counts by line"
    ),
    r"./p5lab show RUN --attribution --source --event data_read_misses": (
        "e2e/test_region_and_lines.py prints the source; unit/test_by_source.py chooses the event"
    ),
    r"./p5lab run chen95-core --workload dup --cpi --seed 0-4": "ten runs",
    r"./p5lab run chen95-core .* --ideal each": "22 runs; e2e/test_ideal.py makes four",
    r"./p5lab show RUN --attribution --event cpi.data.dram": (
        "e2e/test_cpi_stack.py reads these counts"
    ),
    r"./p5lab run EXPERIMENT .*": "a form of many commands",
    r"./p5lab run applications( .*)?": (
        "needs a disk of Debian with an X server (e2e/test_debian32_x.py)"
    ),
    r"./p5lab run andrew": "needs a disk of Debian with a compiler (e2e/test_andrew_make.py)",
    r"./p5lab show RUN --attribution --by module": "SESSION shows other columns",
    r"./p5lab run --program build/delivered/.*": (
        "needs a disk of Debian with Ghostscript (e2e/test_ghostscript.py)"
    ),
    r"./p5lab run --program guest:.*": "needs a disk of Debian (e2e/test_distributions.py)",
    r"./p5lab run (--guest (NAME|freedos|linux-2\.2|minix-2|nt-4\.0)( .*)?|--(disk|floppy) .*)": (
        "needs the reader's own media (e2e/test_boots_from_media.py has a small system)"
    ),
    r"./p5lab run tutorial .*": "docs/start/tutorial.md makes this experiment",
    r"./p5lab run chen95-core --workload dup --guest linux-uml --trace crossings": (
        "e2e/test_crossings_doc.py makes this run in another way"
    ),
    r"./p5lab report lai96-memory .*": "needs runs of minutes",
    r"./p5lab validate.*": "takes half an hour",
    r"./p5lab simpoint .*": "takes minutes (e2e/test_simpoint.py)",
    r"./p5lab image .*": "needs a mirror (e2e/test_distributions.py)",
    r"./p5lab test .*": "takes minutes",
}

# Commands of other programs. `scripts`: the script exists and has the options. `host`: e2e runs
# the command. `zig`: e2e compiles, but does not link, because the first link compiles a C library
# for a minute. `shown`: nothing of p5lab is in the command, or the program is not on the host.
OTHERS = {
    r"python (guest-images|workloads|tools)/.*": "scripts",
    r"gem5\.opt .*configs/gem5/run\.py .*": "scripts",
    r"(\.venv/bin/)?python -m (p5stats|p5lab)\..*": "modules",
    r"cc -O2 .*|\./getpid .*": "host",
    r"openssl .*": "host",
    r"\.venv/bin/python -m ziglang cc .*": "zig",
    r"cp -r .*|mv .*": "copies",
    r"\.venv/bin/dask .*": "dask",
    r"export (P5LAB_GEM5|PYTHONPATH)=.*|qemu-system-i386 .*": "shown",
    r"gcc -m32 .*": "shown",  # needs the 32-bit C library of the host
}


# --- reading --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Command:
    """A command line of a document, without comment, prompt and assignments to variables.

    `assigned`: the names of the assigned variables. `fenced`: whether the command is in a fence,
    and not in the text.
    """

    document: str
    text: str
    assigned: tuple[str, ...]
    fenced: bool

    @property
    def words(self) -> list[str]:
        """The words of the command up to a pipe or a redirection, as a shell splits them."""
        return shlex.split(re.split(r" [|>] ", self.text)[0])


def documents() -> list[str]:
    """Returns the Markdown files of the work tree, without the history of changes."""
    return [name for name in worktree.files(REPO, "*.md") if name != HISTORY]


def fences(document: str) -> Iterator[tuple[str, str]]:
    """Yields the language and the content of each fence of a document."""
    for found in FENCE.finditer((REPO / document).read_text(encoding="utf-8")):
        yield found[2], re.sub(f"^{found[1]}", "", found[3], flags=re.MULTILINE)


def lines(fence: str) -> Iterator[str]:
    """Yields the command lines of a fence, without comments. A backslash continues a line."""
    for line in re.sub(r" *\\\n\s*", " ", fence).splitlines():
        command = re.sub(r"(?:^|\s+)#(?!!).*", "", line).strip()
        if command:
            yield command.removeprefix("$ ")


def command(document: str, line: str, *, fenced: bool) -> Command:
    """Returns the command of one line."""
    assigned = []
    while ASSIGNED.match(line):
        first, _, line = line.partition(" ")
        assigned.append(first.partition("=")[0])
    return Command(document, line, tuple(assigned), fenced)


def commands() -> list[Command]:
    """Returns all command lines of fences, and the commands of p5lab in the text."""
    found = []
    for document in documents():
        for language, fence in fences(document):
            if language in SHELL:
                found += [command(document, line, fenced=True) for line in lines(fence)]
            elif language == "text":
                prompts = re.findall(r"^\$ .*", fence, re.MULTILINE)
                found += [command(document, line[2:], fenced=True) for line in prompts]
        text = FENCE.sub("", (REPO / document).read_text(encoding="utf-8"))
        found += [command(document, span, fenced=False) for span in SPAN.findall(text)]
    return found


def session() -> list[str]:
    """Returns the commands of SESSION in their order."""
    return SESSION.strip().splitlines()


def classes(one: Command) -> list[str]:
    """Returns the classes of a command in a fence. A classified command has exactly one."""
    found = []
    if one.document == TUTORIAL:
        return ["tutorial"]
    if one.text in session():
        found.append("session")
    if one.text in ELSEWHERE:
        found.append("elsewhere")
    if not found and any(re.fullmatch(pattern, one.text) for pattern in ONLY_PARSED):
        found.append("parsed")
    found += [kind for pattern, kind in OTHERS.items() if re.fullmatch(pattern, one.text)]
    return found


def alternatives(text: str) -> list[str]:
    """Returns the commands that a form such as "list [a|b]" stands for, one for each choice. The
    first one has none of the optional words."""
    optional = re.search(r" \[([^\]]*)\]", text)
    if optional:
        rest = text[: optional.start()], text[optional.end() :]
        choices = [f"{rest[0]} {one}{rest[1]}" for one in optional[1].split("|")]
        return [one for choice in ["".join(rest), *choices] for one in alternatives(choice)]
    choice = re.search(r"(?<= )\w+(?:\|\w+)+", text)
    if choice:
        return [
            one
            for word in choice[0].split("|")
            for one in alternatives(text[: choice.start()] + word + text[choice.end() :])
        ]
    return [text]
