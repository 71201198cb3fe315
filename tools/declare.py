# SPDX-License-Identifier: MIT
"""Translates the declarations of `engine/` to C++.

The script writes events.hh, policies.hh, declared.hh and declared.cc. For each folder NAME that
declares keys, the script also writes declared_NAME.cc.

Usage: declare.py ENGINE OUTPUT_DIRECTORY
"""

import ast
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "stats-parsers")]

from p5lab.describe import declarations  # noqa: E402
from p5lab.describe.declarations import Part, Policy, Rule  # noqa: E402
from p5lab.describe.expressions import Expression, key_of  # noqa: E402
from p5lab.describe.kinds import Key  # noqa: E402
from p5lab.errors import UserError  # noqa: E402
from p5stats import StatsError, declared  # noqa: E402
from p5stats.declared import Event  # noqa: E402

HEAD = """\
// SPDX-License-Identifier: MIT
// Made by tools/declare.py from {sources}; do not edit.
"""
OPERATORS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.FloorDiv: "/",
    ast.Mod: "%",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
}
FORMS = {"integer": "kInteger", "real": "kReal", "flag": "kFlag", "text": "kText"}
# The C++ name of each function, and the type of its value. All other functions are in the header of
# a device.
FUNCTIONS = {
    "abs": ("std::fabs", "real"),
    "round": ("std::nearbyint", "real"),
    "power_of_two": ("power_of_two", "flag"),
    "beats": ("beats", "integer"),
}
OWN = {"cylinders": "integer", "mean_seek": "real"}
Known = Mapping[str, Key]


def quoted(text: str) -> str:
    """A C++ string literal. Declarations are ASCII."""
    return json.dumps(text)


def class_name(directory: str) -> str:
    """The C++ name for a directory: plru -> Plru."""
    return directory[:1].upper() + directory[1:]


class Translator:
    """Translates the expressions of a part to C++. `keys`: the keys of all parts. `namespace`: the
    namespace of the part's own functions."""

    def __init__(self, keys: Known, namespace: str) -> None:
        self.keys = keys
        self.namespace = namespace

    def cpp(self, expression: Expression) -> tuple[str, str]:
        """The C++ text of an expression, and its type: integer, real, flag or text. Raises
        UserError for types that cannot be combined."""
        return self._node(expression.tree, expression)

    def _node(self, node: ast.expr, whole: Expression) -> tuple[str, str]:
        match node:
            case ast.BoolOp(op=op, values=inner):
                sign = " && " if isinstance(op, ast.And) else " || "
                return f"({sign.join(self._node(child, whole)[0] for child in inner)})", "flag"
            case ast.UnaryOp(op=ast.Not(), operand=operand):
                return f"!{self._node(operand, whole)[0]}", "flag"
            case ast.UnaryOp(operand=operand):
                text, form = self._node(operand, whole)
                return f"-{text}", form
            case ast.BinOp(left=left, op=op, right=right):
                return self._arithmetic(self._node(left, whole), op, self._node(right, whole))
            case ast.Compare(left=left, ops=[op], comparators=[right]):
                pair = self._node(left, whole), self._node(right, whole)
                (a, first), (b, second) = pair
                if (first == "text") != (second == "text"):
                    raise UserError(
                        f"{whole.where}: {ast.unparse(node)!r} compares a text with another type"
                    )
                return f"({a} {OPERATORS[type(op)]} {b})", "flag"
            case ast.Call(func=ast.Name(id=name), args=arguments):
                called, form = FUNCTIONS.get(name) or (f"{self.namespace}::{name}", OWN[name])
                texts = (self._node(argument, whole)[0] for argument in arguments)
                return f"{called}({', '.join(texts)})", form
            case ast.Constant(value=value):
                return self._constant(value)
        name = key_of(node)
        form = self.keys[name].form
        return f"values.{form}({quoted(name)})", form

    @staticmethod
    def _constant(value: object) -> tuple[str, str]:
        if isinstance(value, bool):
            return ("true" if value else "false"), "flag"
        if isinstance(value, str):
            return f"std::string({quoted(value)})", "text"
        return repr(value), "integer" if isinstance(value, int) else "real"

    @staticmethod
    def _arithmetic(
        left: tuple[str, str], op: ast.operator, right: tuple[str, str]
    ) -> tuple[str, str]:
        (a, first), (b, second) = left, right
        if isinstance(op, ast.Div):
            return f"(double({a}) / double({b}))", "real"
        form = "integer" if first == second == "integer" else "real"
        if form == "real" and isinstance(op, ast.FloorDiv | ast.Mod):
            raise UserError(f"{a}, {b}: // and % are for whole numbers")
        return f"({a} {OPERATORS[type(op)]} {b})", form


def events_header(parts: list[str], events: list[Event], shadowed: list[Event]) -> str:
    """events.hh: the enumeration of events, and the declaration of each."""
    program = [
        event for event in events if event.depends == "program" and event.isa in ("", "pentium")
    ]
    codes = sorted(
        (code, number, event.enum) for number, event in enumerate(events) for code in event.codes
    )
    lines = [
        HEAD.format(sources="the [events] of engine/p5/events.toml and engine/devices/*"),
        "// The events. The engine counts each event per address space (CR3) and privilege ring.",
        "#pragma once\n",
        "#include <cstdint>\n",
        '#include "base/processor.hh"\n',
        "namespace base {",
        "namespace events {\n",
        "// The parts that declare keys or events: the chip, and a directory for each device.",
        f"enum class Part : uint8_t {{ {', '.join(map(class_name, parts))} }};",
        f"constexpr uint32_t kPartCount = {len(parts)};\n",
        "enum Event : uint32_t {",
        *(f"  {event.enum},  // {event.counts}" for event in events),
        "  kEventCount",
        "};\n",
        "// The count of each event depends on the executed program. Some counts also depend on",
        "// caches and TLBs (Caches), or on clocks or the pipeline (Clocks).",
        "enum class Depends : uint8_t { Program, Caches, Clocks };\n",
        "struct EventInfo {",
        "  const char* name;  // data_reads; with nominal clocks, nominal.cycles.busy",
        "  const char* unit;  // events or cycles",
        "  Part part;",
        "  Depends depends;",
        "  bool pentium, x86_64;  // the engines that count it",
        "  bool newer;            // only the level pentium+cmov counts it",
        "  bool nominal;          // the engine for x86-64 counts it with nominal clocks",
        "  bool asked;            // only a run with an option counts it",
        "};",
        "constexpr EventInfo kEvents[] = {",
        *(
            f"    {{{_name(event)}, {quoted(event.unit)}, Part::{class_name(event.part)},"
            f" Depends::{event.depends.capitalize()}, {_flag(event.isa != 'x86-64')},"
            f" {_flag(event.isa in ('', 'x86-64') and not event.has_nominal)},"
            f" {_flag(event.isa == 'pentium+cmov')}, {_flag(event.has_nominal)},"
            f" {_flag(event.when)}}},"
            for event in events
        ),
        "};\n",
        "inline const char* event_name(uint32_t event) { return kEvents[event].name; }",
        "inline const char* event_unit(uint32_t event) { return kEvents[event].unit; }\n",
        "// The events that each further geometry counts separately (Depends::Caches), and the",
        "// events that the run counts for all geometries (Depends::Program). The order of both",
        "// lists is the order in events.jsonl.",
        f"constexpr Event kMissEvents[] = {{{', '.join(event.enum for event in shadowed)}}};",
        f"constexpr Event kStreamEvents[] = {{{', '.join(event.enum for event in program)}}};\n",
        "// The event that a counter counts for each code (ES) in its register [INTEL-DM table",
        "// 16-24]. For a code with two entries here, the counter counts the sum of both events.",
        "struct EventCode {",
        "  uint8_t code;",
        "  Event event;",
        "};",
        "constexpr EventCode kEventCodes[] = {",
        *(f"    {{0x{code:02X}, {enum}}}," for code, _, enum in codes),
        "};\n",
        "}  // namespace events",
        "}  // namespace base",
    ]
    return "\n".join(lines) + "\n"


def _name(event: Event) -> str:
    """The C++ expression for the name of an event."""
    if not event.has_nominal:
        return quoted(event.name)
    return f"kX86_64 ? {quoted(event.nominal.name)} : {quoted(event.name)}"


def _flag(value: object) -> str:
    return "true" if value else "false"


def policies_header(policies: list[Policy]) -> str:
    """policies.hh: the list of replacement policies. Each policy has its own directory."""
    lines = [HEAD.format(sources="the directories of engine/p5/replacement"), "#pragma once\n"]
    lines += [f'#include "p5/replacement/{policy.name}/policy.hh"' for policy in policies]
    lines += ['#include "p5/replacement/policy_list.hh"']
    lines += ["", "namespace p5 {", ""]
    for policy in policies:
        lines += [
            "template <>",
            f"struct PolicyName<{class_name(policy.name)}> {{",
            f"  static constexpr const char* name = {quoted(policy.name)};",
            "};",
        ]
    names = ", ".join(class_name(policy.name) for policy in policies)
    lines += ["", "// All policies.", f"using Policies = PolicyList<{names}>;", ""]
    return "\n".join([*lines, "}  // namespace p5"]) + "\n"


def declared_header(parts: list[Part]) -> str:
    """declared.hh: the declaration of each part."""
    lines = [HEAD.format(sources="keys.toml and device.toml below engine/"), "#pragma once\n"]
    lines += [
        '#include "base/declaration.hh"',
        '#include "base/events.hh"\n',
        "namespace base {",
        "namespace declared {\n",
    ]
    lines += [f"extern const Declaration {part.name};  // {part.title}" for part in parts]
    lines += ["\n}  // namespace declared\n"]
    lines += ["const Declaration& declaration(events::Part part);\n"]
    return "\n".join([*lines, "}  // namespace base"]) + "\n"


def declared_source(parts: list[Part]) -> str:
    """declared.cc: a function that returns the declaration of a part."""
    names = ", ".join(f"&declared::{part.name}" for part in parts)
    return (
        HEAD.format(sources="keys.toml and device.toml below engine/")
        + '#include "base/declared.hh"\n\nnamespace base {\n\n'
        + "const Declaration& declaration(events::Part part) {\n"
        + f"  static const Declaration* const all[] = {{{names}}};\n"
        + "  return *all[size_t(part)];\n}\n\n}  // namespace base\n"
    )


def part_source(part: Part, keys: Known) -> str:
    """declared_NAME.cc: the keys of a part that the engine checks, and the rules of the part."""
    header, namespace = part.functions
    lines = [
        HEAD.format(sources=f"the {part.path.name} of {part.name}"),
        "#include <cmath>\n",
        '#include "base/declared.hh"',
        *([f'#include "{header}"'] if header else []),
        "\nnamespace base {\nnamespace {\n",
    ]
    own = [key for key in part.keys if key.target == "engine"]
    translator = Translator(keys, namespace)
    if own:
        lines += ["const DeclaredKey kKeys[] = {", *map(_key, own), "};\n"]
    if part.rules:
        lines.append("const DeclaredRule kRules[] = {")
        lines += [*(_rule(rule, translator) for rule in part.rules), "};\n"]
    present = "nullptr"
    if part.present:
        text, _ = translator.cpp(part.present)
        present = f"[](const Values& values) -> bool {{ return {text}; }}"
    counts = f"{_count('kKeys', own)}, {_count('kRules', part.rules)}"
    lines += [
        "}  // namespace\n",
        "namespace declared {\n",
        f"const Declaration {part.name} = {{{counts},\n    {present}}};\n",
        "}  // namespace declared",
        "}  // namespace base",
    ]
    return "\n".join(lines) + "\n"


def _count(array: str, content: Sequence[object]) -> str:
    """The name of an array and its length. C++ has no array of length 0."""
    return f"{array}, {len(content)}" if content else "nullptr, 0"


def _key(key: Key) -> str:
    form = "kRanges" if key.kind == "ranges" else FORMS[key.form]
    fallback = "nullptr" if key.default is None else quoted(key.canonical(key.default))
    # Drives may be added after the build, so the engine does not check their names.
    choices = "" if key.kind == "file" else ",".join(key.choices)
    pattern = key.pattern if key.kind != "ranges" else ""
    return (
        f"    {{{quoted(key.name)}, DeclaredKey::{form}, {key.low!r}, {key.high!r},"
        f" {quoted(choices)}, {quoted(pattern)}, {fallback},"
        f"\n     {quoted(key.expected)}, {_flag(key.geometry)}}},"
    )


def _rule(rule: Rule, translator: Translator) -> str:
    holds, _ = translator.cpp(rule.holds)
    pieces = []
    for piece in rule.expected.parts:
        if isinstance(piece, str):
            pieces += [quoted(piece)] if piece else []
        elif name := key_of(piece.tree):
            pieces.append(f"values.text({quoted(name)})")
        else:
            pieces.append(f"shown({translator.cpp(piece)[0]})")
    text = " + ".join(["std::string()", *pieces])
    values = "values" if "values." in holds else ""
    shown = "values" if "values." in text else ""
    return (
        f"    {{{quoted(rule.key)},\n"
        f"     [](const Values& {values}) -> bool {{ return {holds}; }},\n"
        f"     [](const Values& {shown}) -> std::string {{ return {text}; }}}},"
    )


def main(engine: Path, output: Path) -> None:
    """Writes all files to a directory."""
    parts = list(declarations.parts(engine))
    events = list(declared.events(engine).values())
    keys = {key.name: key for part in parts for key in part.keys}
    names = [part.name for part in parts]
    if strangers := {event.part for event in events} - set(names):
        raise UserError(f"{engine}: events of {', '.join(sorted(strangers))}, which has no keys")
    files = {
        "base/events.hh": events_header(names, events, declared.of_geometries(engine)),
        "p5/policies.hh": policies_header(list(declarations.policies(engine).values())),
        "base/declared.hh": declared_header(parts),
        "declared.cc": declared_source(parts),
        **{f"declared_{part.name}.cc": part_source(part, keys) for part in parts},
    }
    for name, text in files.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except (UserError, StatsError) as error:
        sys.exit(f"declare.py: {error}")
