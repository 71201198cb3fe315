# SPDX-License-Identifier: MIT
"""Durations as texts for people."""


def duration(seconds: float) -> str:
    """Returns a time as a text, for example 4.2 s, 3 min or 2 h 5 min."""
    if seconds < 100:
        return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes // 60} h {minutes % 60} min"


def roughly(seconds: float) -> str:
    """Returns an estimate as a text: `duration` of the nearest 10 s, and at least 10 s."""
    return duration(max(round(seconds, -1), 10))
