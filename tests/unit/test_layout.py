# SPDX-License-Identifier: MIT
"""The layout of docs/architecture.md: allowed imports, and the length of functions."""

import ast
import re
from collections import Counter
from collections.abc import Iterator
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest
import sizes

REPO = Path(__file__).resolve().parents[2]
ENGINE = REPO / "engine"
PYTHON = (REPO / "src", REPO / "stats-parsers")
LONGEST = 80  # lines of a function, from its first to its last
# For each folder of the engine: the other folders that it may include. The lowest folder comes
# first.
ENGINE_PARTS = {
    "base": (),
    "x87": (),
    "p5": ("base",),
    "measure": ("base", "p5"),
    "observe": ("base", "p5", "measure"),
    "devices": ("base",),
    "restore": (),
    "vnc": (),
    "session": ("restore", "base", "p5", "measure", "observe", "devices"),
    "bochs": ("base", "x87", "p5", "measure", "observe", "devices", "session"),
}
# For each package of p5lab: the other packages that it may import, at any place of a file. The
# lowest package comes first, and a package imports only packages above it in this table. Every
# package may import the modules beside the packages (errors, lab, files, ...), which import none.
PACKAGES = {
    "describe": (),
    "host": ("describe",),
    "keep": ("describe",),
    "engines": ("describe",),
    "prepare": ("describe", "host"),
    "execute": ("describe", "host", "keep", "engines"),
    "present": ("describe", "keep"),
    "evidence": ("describe", "keep", "engines", "prepare", "present"),
    "page": ("describe", "keep", "present", "evidence"),
    "api": ("describe", "keep", "prepare", "execute", "present", "page"),
    "cli": ("describe", "host", "keep", "prepare", "execute", "present", "evidence", "page", "api"),
}
ENTRANCES = ("p5lab", "p5lab.__main__")  # `import p5lab`, and `python -m p5lab`
LWIP = ("lwip/", "netif/", "arch/")
SEEN_BY_BOCHS = ("instrument.h", "insn.hh", "isa.hh")  # Bochs includes them without a folder
INCLUDE = re.compile(r'^\s*#\s*include\s*(["<])([^">]+)[">]', re.MULTILINE)


def cycle(graph: dict[str, set[str]]) -> list[str]:
    """Returns one cycle of a graph, or an empty list."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


# --- Python -------------------------------------------------------------------------------------


def modules() -> dict[str, Path]:
    """Returns our modules by their full names."""
    found = {}
    for place in PYTHON:
        for path in sorted(place.rglob("*.py")):
            parts = path.relative_to(place).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def imported(text: str, name: str, known: set[str], is_package: bool = False) -> set[str]:
    """Returns the modules in `known` that a module imports, also inside functions and for types."""
    found = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        if not isinstance(node, ast.ImportFrom):
            continue
        above = name.split(".")[: None if is_package else -1]
        base = above[: len(above) - node.level + 1] if node.level else []
        start = ".".join([*base, *([node.module] if node.module else [])])
        for alias in node.names:
            inner = f"{start}.{alias.name}"
            found.add(inner if inner in known else start)
    return found & known


@cache
def imports() -> dict[str, set[str]]:
    every = modules()
    return {
        name: imported(path.read_text(), name, set(every), path.name == "__init__.py")
        for name, path in every.items()
    }


def test_no_cycle_of_imports():
    assert cycle(imports()) == []


def test_a_cycle_of_imports_would_be_found():
    known = {"a", "a.b", "a.c"}
    texts = {"a.b": "from a import c", "a.c": "try:\n    from . import b\nexcept OSError: pass"}
    graph = {name: imported(text, name, known) for name, text in texts.items()}
    assert sorted(set(cycle(graph))) == ["a.b", "a.c"]
    for also in (
        "def f():\n    from a import b",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from a import b",
    ):
        graph["a.c"] = imported(also, "a.c", known)
        assert sorted(set(cycle(graph))) == ["a.b", "a.c"]
    graph["a.c"] = imported("import a", "a.c", known)
    assert cycle(graph) == []


def package(module: str) -> str:
    """Returns the package of p5lab that contains a module; empty for a module beside them."""
    parts = module.split(".")
    return parts[1] if parts[0] == "p5lab" and len(parts) > 1 and parts[1] in PACKAGES else ""


def test_packages_import_only_those_of_the_table():
    """Modules beside the packages import no package. p5stats does not import p5lab."""
    wrong = []
    for name, found in imports().items():
        for other in found - {name}:
            own, theirs = package(name), package(other)
            allowed = theirs in ("", own, *PACKAGES.get(own, ())) or name in ENTRANCES
            if not allowed or (name.startswith("p5stats") and other.startswith("p5lab")):
                wrong.append(f"{name} imports {other}")
    assert wrong == []


def test_no_row_of_the_table_of_packages_is_in_vain():
    """Each allowed import exists, and goes to a package further above."""
    used = {(package(name), package(other)) for name, found in imports().items() for other in found}
    order = list(PACKAGES)
    for name, allowed in PACKAGES.items():
        for other in allowed:
            assert (name, other) in used
            assert order.index(other) < order.index(name)


def test_every_package_is_in_the_table():
    packages = {path.parent.name for path in (REPO / "src/p5lab").glob("*/__init__.py")}
    assert packages == set(PACKAGES)


# --- the engine -----------------------------------------------------------------------------------


def engine_files() -> list[Path]:
    return sorted(path for path in ENGINE.rglob("*") if path.suffix in (".cc", ".hh", ".h"))


def part(path: Path) -> str:
    """Returns the folder of the engine that contains a file."""
    return path.relative_to(ENGINE).parts[0]


@cache
def includes() -> dict[Path, dict[str, Path | None]]:
    """Returns the includes of each engine file. An include names one of our files by its path
    below engine/; then gives the whole path.
    """
    files = set(engine_files())
    return {
        path: {
            name: ENGINE / name if ENGINE / name in files else None
            for _, name in INCLUDE.findall(path.read_text(encoding="utf-8"))
        }
        for path in files
    }


def test_no_cycle_of_includes():
    graph = {
        str(path.relative_to(ENGINE)): {
            str(other.relative_to(ENGINE)) for other in found.values() if other
        }
        for path, found in includes().items()
    }
    assert sum(map(len, graph.values())) > 100
    assert cycle(graph) == []


def test_parts_of_the_engine_know_those_below_them():
    wrong = []
    for path, found in includes().items():
        for other in filter(None, found.values()):
            if part(other) not in (part(path), *ENGINE_PARTS[part(path)]):
                wrong.append(f"{path.relative_to(ENGINE)} includes {other.relative_to(ENGINE)}")
    assert wrong == []


def test_devices_do_not_know_each_other():
    wrong = []
    for path, found in includes().items():
        for other in filter(None, found.values()):
            places = [one.relative_to(ENGINE).parts for one in (path, other)]
            if all(place[0] == "devices" and len(place) > 2 for place in places):
                wrong += [f"{path.name} includes {other.name}"] * (places[0][1] != places[1][1])
    assert wrong == []


def test_only_the_glue_includes_the_emulator():
    """All other headers are our own, come from lwIP or the system, or are made by our build."""
    scripts = (ENGINE / "SConscript", REPO / "tools/declare.py")
    script = "".join(path.read_text(encoding="utf-8") for path in scripts)
    wrong = []
    for path, found in includes().items():
        if part(path) == "bochs":
            continue
        text = path.read_text(encoding="utf-8")
        for quote, name in INCLUDE.findall(text):
            shared = name.startswith("../") and (path.parent / name).exists()  # with a workload
            shared |= path.name in SEEN_BY_BOCHS and name in SEEN_BY_BOCHS
            shared |= path.name.endswith("_test.cc") and (REPO / name).exists()
            ours = found[name] or shared or name.startswith(LWIP)
            generated = name.endswith(".hh") and f'"{name}"' in script
            if quote == '"' and not ours and not generated:
                wrong.append(f"{path.relative_to(ENGINE)} includes {name}")
            if quote == "<" and re.search(r"bochs|iodev|^cpu/|pc_system|siminterface", name):
                wrong.append(f"{path.relative_to(ENGINE)} includes {name}")
    assert wrong == []


def test_namespaces_are_folders():
    """The namespace of a file is the path of its folder. Folders inside the chip or inside a device
    only group files, and programs beside the engine have namespaces of their own."""
    wrong = []
    for path in engine_files():
        folders = path.relative_to(ENGINE).parts[:-1]
        if folders[0] in ("restore", "vnc") or path.name.endswith("_test.cc"):
            continue
        deep = 2 if folders[0] == "devices" else 1
        expected = "::".join(folders[:deep]).replace("devices", "device")  # Bochs has `devices`
        text = path.read_text(encoding="utf-8")
        opened = re.search(r"^namespace (\w[\w:]*)", text, re.MULTILINE)
        if opened and "lwip" not in folders and not f"{opened[1]}::".startswith(f"{expected}::"):
            wrong.append(f"{path.relative_to(ENGINE)}: {opened[1]}, not {expected}")
    assert wrong == []


def test_every_folder_of_the_engine_has_rules():
    assert {path.name for path in ENGINE.iterdir() if path.is_dir()} == set(ENGINE_PARTS)


# --- sizes ----------------------------------------------------------------------------------------


def has_reason(lines: list[str], first: int, mark: str) -> bool:
    """Returns whether a comment `mark long: ...` is on line `first` or directly above this line.
    The first line of a file has the number 1.
    """
    reason = re.compile(rf"{re.escape(mark)} long: \S+ \S+")
    above = first - 2
    while above >= 0 and lines[above].lstrip().startswith((mark, "@")):
        if reason.search(lines[above]):
            return True
        above -= 1
    return bool(reason.search(lines[first - 1]))


def too_long(path: Path) -> list[str]:
    """Returns the functions of a file that are too long and have no comment with a reason."""
    lines = path.read_text(encoding="utf-8").splitlines()
    mark = "#" if path.suffix == ".py" else "//"
    return [
        f"{path.name}:{one.first}: {one.name} has {one.lines} lines"
        for one in sizes.functions(path)
        if one.lines > LONGEST and not has_reason(lines, one.first, mark)
    ]


def test_no_function_is_too_long():
    paths = [path for part in sizes.PARTS for path in sizes.files(REPO / part)]
    assert len(paths) > 200
    assert [line for path in paths for line in too_long(path)] == []


@pytest.mark.parametrize(
    ("name", "head", "line", "end", "mark"),
    [
        ("a.py", "def f():", "    x = 1", "    return 1", "#"),
        ("a.cc", "int f() {", "f();", "}", "//"),
    ],
)
def test_a_long_function_would_be_found(tmp_path, name, head, line, end, mark):
    path = tmp_path / name
    path.write_text("\n".join([head, *[line] * (LONGEST - 2), end]) + "\n")
    assert too_long(path) == []
    path.write_text("\n".join([head, *[line] * (LONGEST - 1), end]) + "\n")
    assert too_long(path) == [f"{name}:1: {too_long(path)[0].split()[1]} has 81 lines"]
    for reason, good in ((f"{mark} long: a table", True), (f"{mark} long:", False)):
        path.write_text("\n".join([reason, head, *[line] * (LONGEST - 1), end]) + "\n")
        assert (too_long(path) == []) == good


def test_exceptions_from_the_formatter_have_a_reason():
    """The rule applies to `# fmt: skip` and similar comments in all our Python, and to
    clang-format's comments.
    """
    found = Counter()
    kinds = re.compile(r"#\s*(fmt:\s*(?:skip|off)|yapf: disable)(.*)|//\s*(clang-format off)(.*)")
    places = ("src", "stats-parsers", "engine", "tests", "tools", "bench", "guest-images")
    for place in places:
        for path in (REPO / place).rglob("*"):
            if path.suffix not in (".py", ".cc", ".hh", ".h") and path.name != "SConscript":
                continue
            if path == Path(__file__):
                continue
            for match in kinds.finditer(path.read_text(encoding="utf-8")):
                if not re.match(r"\s*:\s*\S+ \S+", match[2] or match[4] or ""):
                    found[str(path.relative_to(REPO))] += 1
    assert found == {}


def test_sizes_of_a_checkout(capsys):
    assert sizes.main([str(REPO)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[2:]] == list(sizes.PARTS)
    assert sizes.main([str(REPO / "docs")]) == 2
    assert "expected a checkout" in capsys.readouterr().err


# --- docstrings -----------------------------------------------------------------------------------

EMPTY = frozenset("a an the of this that is it to get gets return returns given function".split())


def says_nothing(name: str, docstring: str) -> bool:
    """Returns whether a docstring contains only words of the function's or class's name. ruff finds
    missing docstrings."""
    own = set(re.findall(r"[a-z]+", name.lower().replace("_", " ")))
    words = set(re.findall(r"[a-z0-9]{2,}", docstring.lower()))
    return not {word for word in words - EMPTY if word not in own and word.rstrip("s") not in own}


def documented(path: Path) -> Iterator[tuple[str, str]]:
    """Returns the public functions, methods and classes of a file that have a docstring, with this
    docstring.
    """
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            text = ast.get_docstring(node)
            if text is not None and not node.name.startswith("_"):
                yield node.name, text


def test_docstrings_say_more_than_the_name():
    found = [
        f"{path.name}: {name}: {text}"
        for path in modules().values()
        for name, text in documented(path)
        if says_nothing(name, text)
    ]
    assert found == []


@pytest.mark.parametrize(
    ("docstring", "empty"),
    [
        ("Returns the run id.", True),
        ("The run's id", True),
        ("", True),
        ("Run id: 16 hexadecimal digits of a SHA-256.", False),
    ],
)
def test_an_empty_docstring_would_be_found(docstring, empty):
    assert says_nothing("run_id", docstring) == empty


EMPTY_NAMES = {"one", "found"}


def empty_names(text: str) -> list[str]:
    """The definitions of a module whose names say nothing about what they are or hold: variables,
    parameters, attributes, functions."""
    names = [(name, node.lineno) for node in ast.walk(ast.parse(text)) for name in defined(node)]
    return [f"{line}: {name}" for name, line in names if name.lstrip("_") in EMPTY_NAMES]


def defined(node: ast.AST) -> list[str]:
    """The names that a node of a syntax tree defines, or gives to a parameter."""
    match node:
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            return [name]
        case ast.arg(arg=str(name)) | ast.keyword(arg=str(name)):
            return [name]
        case ast.FunctionDef(name=name) | ast.ExceptHandler(name=str(name)):
            return [name]
        case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            return [name]
    return []


def test_local_names_say_what_they_hold():
    assert {
        str(path.relative_to(REPO)): names
        for place in (*PYTHON, REPO / "tools", REPO / "configs", REPO / "bench")
        for path in sorted(place.rglob("*.py"))
        if (names := empty_names(path.read_text()))
    } == {}


def test_an_empty_name_would_be_found():
    text = "found = 1\ndef f(one, run): return [one for one in run] + one_of(found=run)\n"
    assert sorted(empty_names(text)) == ["1: found", "2: found", "2: one", "2: one"]
    for text in ("a.found = 1", "def _one(): pass", "try: a\nexcept E as one: b"):
        assert len(empty_names(text)) == 1
    assert empty_names("match a:\n case [one, *found]: one_of(a)") == ["2: one", "2: found"]


def test_a_class_name_means_one_thing():
    """A public class of the product has a name of its own."""
    classes = Counter(
        node.name
        for path in modules().values()
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert [name for name, number in classes.items() if number > 1] == []


def test_no_two_files_of_tests_have_the_same_name():
    """pytest imports a file of tests by its name alone, so it would refuse the second file."""
    names = [path.name for path in (REPO / "tests").rglob("test_*.py")]
    assert sorted(names) == sorted(set(names))


SERVER = REPO / "guest-images/mach/server"
# What the files of the UNIX server share, and the files of this list that each of them may use.
SERVER_HELPERS = {"helpers.c": (), "messages.c": ("helpers.c",), "waiting.c": ("helpers.c",)}
DEFINED = re.compile(r"^(?!static)[\w *]+?\b(\w+)\([^;{}]*\)\s*\{", re.MULTILINE)


def test_the_helpers_of_the_mach_server_use_no_other_file_of_it():
    """main.c had them, so 18 files stood in one circle."""
    comment = re.compile(r"/\*.*?\*/", re.DOTALL)
    texts = {file.name: comment.sub("", file.read_text()) for file in SERVER.glob("*.c")}
    owner = {name: file for file, text in texts.items() for name in DEFINED.findall(text)}
    assert owner["pages_new"] == "helpers.c"
    assert owner["call_carry_out"] == "calls.c"
    for file, allowed in SERVER_HELPERS.items():
        called = set(re.findall(r"\b(\w+)\(", texts[file]))
        used = {owner[name] for name in called if name in owner} - {file}
        assert used <= {*allowed}, file
