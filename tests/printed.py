# SPDX-License-Identifier: MIT
"""The command lines and Python examples that the documents print.

A fence without a language, or with the language `sh`, contains command lines and nothing else.
Each command line belongs to exactly one class. e2e/test_typed_commands.py executes the commands of
SESSION, and e2e/test_printed_output.py those of the tutorial. unit/test_printed_commands.py checks
that the command line reads all others, and that the names in them exist.
"""

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import work_tree

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
./p5lab show RUN --by function,crossing --metric l2_read_misses
./p5lab run chen95-core --workload dup --guest linux --attribute functions
./p5lab show RUN --attribution
./p5lab show RUN --by function,ring,crossing --metric l2_read_misses --top 10
./p5lab run chen95-core --workload exec-static --guest linux --attribute stacks
./p5lab show RUN --speedscope exec.json --event cycles.busy
./p5lab run chen95-core --workload create --guest linux --attribute misses
./p5lab show RUN --by function,cause --metric l2_read_misses
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

TUTORIAL = "docs/start/tutorial.md"  # e2e/tutorial.py runs all commands of this document

# Commands of other programs. `scripts`: the script exists and has the options. `host`: e2e or
# unit/test_cluster.py runs the command. `zig`: e2e compiles, but does not link, because the first
# link compiles a C library for a minute. `shown`: nothing of p5lab is in the command, or the
# program is not on the host.
OTHERS = {
    r"python (guest-images|workloads|tools)/.*": "scripts",
    r"gem5\.opt .*configs/gem5/(run|program|library)\.py .*": "scripts",
    r"(\.venv/bin/)?python -m (p5stats|p5lab)\..*": "modules",
    r"cc -O2 .*|\./getpid .*": "host",
    r"openssl .*": "host",
    r"\.venv/bin/python -m ziglang cc .*": "zig",
    r"cp -r .*|mv .*": "copies",
    r"\.venv/bin/dask .*": "dask",
    r"export (P5LAB_GEM5|PYTHONPATH)=.*|qemu-system-i386 .*|cat build/.*": "shown",
    r"scons build/X86/gem5\.opt .*": "shown",
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
    return [name for name in work_tree.files(REPO, "*.md") if name != HISTORY]


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
    if one.document == TUTORIAL:
        return ["tutorial"]
    if one.text in session():
        return ["session"]
    if one.text.startswith("./p5lab "):
        return ["parsed"]
    return [kind for pattern, kind in OTHERS.items() if re.fullmatch(pattern, one.text)]


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
