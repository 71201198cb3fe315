# SPDX-License-Identifier: MIT
"""Convert a static ELF program for i386 to the format a.out of a system that is older than ELF.

    usage: python tools/to_aout.py FORM PROGRAM OUTPUT

The program must have been linked for the addresses of the form, for example with
workloads/linux2/aout.ld and the option --defsym FIRST=ADDRESS of the linker. Without arguments, the
tool prints the forms and their addresses. Exit status: 0, or 2 for bad input.
"""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "src"))
from p5lab.host.aout import FORMS, converted


def main(words: list[str]) -> int:
    if len(words) != 3 or words[0] not in FORMS:
        forms = "".join(f"  {name}, FIRST={form.first:#x}\n" for name, form in FORMS.items())
        print(f"to_aout: expected FORM PROGRAM OUTPUT, with one of the forms\n{forms}", end="")
        return 2
    name, program, output = words
    try:
        Path(output).write_bytes(converted(Path(program).read_bytes(), FORMS[name]))
        Path(output).chmod(0o755)
    except (OSError, ValueError) as error:
        print(f"to_aout: {program}: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
