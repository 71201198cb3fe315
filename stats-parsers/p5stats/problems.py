# SPDX-License-Identifier: MIT
"""The only exception class of p5stats, for bad files and wrong arguments."""


class StatsError(ValueError):
    """A malformed file, or an argument for which there is no answer.

    The message is one line with the place of the fault and the expected content.
    """
