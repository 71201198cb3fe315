# SPDX-License-Identifier: MIT
"""The one exception of p5stats, for bad files and impossible questions."""


class StatsError(ValueError):
    """A malformed file or an impossible question.

    The message is one line: where the fault is, and what was expected.
    """
