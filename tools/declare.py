# SPDX-License-Identifier: MIT
"""Translates the declarations of `engine/` to C++.

The script writes events.hh, policies.hh, declared.hh and declared.cc. For each folder NAME that
declares keys, the script also writes declared_NAME.cc.

Usage: declare.py ENGINE OUTPUT_DIRECTORY
"""

import json
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "stats-parsers")]

from p5lab.describe import declarations  # noqa: E402
from p5lab.describe.declarations import KeyFile, Policy  # noqa: E402
from p5lab.describe.kinds import Key  # noqa: E402
from p5lab.errors import UserError  # noqa: E402
from p5stats import StatsError, declared  # noqa: E402
from p5stats.declared import Event  # noqa: E402

HEAD = """\
// SPDX-License-Identifier: MIT
// Made by tools/declare.py from {sources}; do not edit.
"""
FORMS = {"integer": "kInteger", "real": "kReal", "flag": "kFlag", "text": "kText"}


def quoted(text: str) -> str:
    """A C++ string literal. Declarations are ASCII."""
    return json.dumps(text)


def class_name(directory: str) -> str:
    """The C++ name for a directory: plru -> Plru."""
    return directory[:1].upper() + directory[1:]


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


def declared_header(parts: list[KeyFile]) -> str:
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


def declared_source(parts: list[KeyFile]) -> str:
    """declared.cc: a function that returns the declaration of a part."""
    names = ", ".join(f"&declared::{part.name}" for part in parts)
    return (
        HEAD.format(sources="keys.toml and device.toml below engine/")
        + '#include "base/declared.hh"\n\nnamespace base {\n\n'
        + "const Declaration& declaration(events::Part part) {\n"
        + f"  static const Declaration* const all[] = {{{names}}};\n"
        + "  return *all[size_t(part)];\n}\n\n}  // namespace base\n"
    )


def part_source(part: KeyFile) -> str:
    """declared_NAME.cc: the keys of a part that the engine checks."""
    own = [key for key in part.keys if key.target == "engine"]
    lines = [
        HEAD.format(sources=f"the {part.path.name} of {part.name}"),
        '#include "base/declared.hh"\n',
        "namespace base {",
    ]
    if own:  # C++ has no array of length 0
        keys = (_key(key, decides=key.name in part.present) for key in own)
        lines += [
            "namespace {\n",
            "const DeclaredKey kKeys[] = {",
            *keys,
            "};\n",
            "}  // namespace",
        ]
    keys_and_count = f"kKeys, {len(own)}" if own else "nullptr, 0"
    lines += [
        "\nnamespace declared {\n",
        f"const Declaration {part.name} = {{{keys_and_count}}};\n",
        "}  // namespace declared",
        "}  // namespace base",
    ]
    return "\n".join(lines) + "\n"


def _key(key: Key, *, decides: bool) -> str:
    form = "kRanges" if key.kind == "ranges" else FORMS[key.form]
    fallback = "nullptr" if key.default is None else quoted(key.canonical(key.default))
    # Drives may be added after the build, so the engine does not check their names.
    choices = "" if key.kind == "file" else ",".join(key.choices)
    pattern = key.pattern if key.kind != "ranges" else ""
    return (
        f"    {{{quoted(key.name)}, DeclaredKey::{form}, {key.low!r}, {key.high!r},"
        f" {quoted(choices)}, {quoted(pattern)}, {fallback},"
        f"\n     {quoted(key.expected)}, {_flag(key.geometry)},"
        f" {_flag(decides)}}},"
    )


def main(engine: Path, output: Path) -> None:
    """Writes all files to a directory."""
    parts = list(declarations.parts(engine))
    events = list(declared.events(engine).values())
    names = [part.name for part in parts]
    if strangers := {event.part for event in events} - set(names):
        raise UserError(f"{engine}: events of {', '.join(sorted(strangers))}, which has no keys")
    files = {
        "base/events.hh": events_header(names, events, declared.of_geometries(engine)),
        "p5/policies.hh": policies_header(list(declarations.policies(engine).values())),
        "base/declared.hh": declared_header(parts),
        "declared.cc": declared_source(parts),
        **{f"declared_{part.name}.cc": part_source(part) for part in parts},
    }
    for name, text in files.items():
        (output / name).parent.mkdir(parents=True, exist_ok=True)
        (output / name).write_text(text, encoding="ascii")


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except (UserError, StatsError) as error:
        sys.exit(f"declare.py: {error}")
