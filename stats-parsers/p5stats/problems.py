# SPDX-License-Identifier: MIT
"""The only exception class of p5stats, for bad files and wrong arguments."""


class StatsError(ValueError):
    """A file is malformed, or there is no result for an argument.

    The message is one line with the place of the fault and the expected content.
    """
