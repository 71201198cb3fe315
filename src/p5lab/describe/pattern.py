# SPDX-License-Identifier: MIT
"""Checks the patterns of steps: extended regular expressions of POSIX.

The check calls the same function of the C library as the engine (engine/session/pattern.hh), so
both accept the same patterns.
"""

import functools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes

_EXTENDED, _NO_MATCHES = 1, 8  # REG_EXTENDED and REG_NOSUB of regex.h
_ROOM = 512  # bytes; more than a regex_t needs


def problem(pattern: str) -> str:
    """Why a pattern is not valid; empty if it is valid."""
    import ctypes  # imported here, because few commands need it

    library = _library()
    compiled = ctypes.create_string_buffer(_ROOM)
    status = library.regcomp(compiled, pattern.encode(), _EXTENDED | _NO_MATCHES)
    if status == 0:
        library.regfree(compiled)
        return ""
    reason = ctypes.create_string_buffer(_ROOM)
    library.regerror(status, compiled, reason, ctypes.c_size_t(_ROOM))
    return reason.value.decode("utf-8", "replace")


@functools.cache
def _library() -> "ctypes.CDLL":
    import ctypes

    return ctypes.CDLL(None)
