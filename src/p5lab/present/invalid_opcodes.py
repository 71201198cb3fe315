# SPDX-License-Identifier: MIT
"""Did a guest that ended at its limit execute invalid opcodes?"""

from typing import Any

INVALID = "invalid-opcode"  # the engine's note (engine/session/session.cc: look)


def remark(record: dict[str, Any]) -> str:
    """A sentence about the invalid opcodes of a guest that boots from its own media and whose run
    ended at its limit with success. Empty if there were none. `record`: the record of the run."""
    for note in record.get("notes", []):
        if note["what"] == INVALID:
            count = note["count"]
            several = f"{count:,} invalid opcodes, the first" if count > 1 else "an invalid opcode"
            return (
                f"The guest executed {several}: {note['name']}. A Pentium lacks later instructions"
                " such as CMOV and FXSAVE."
            )
    return ""
