# SPDX-License-Identifier: MIT


class StatsError(ValueError):
    """A file or a question that makes no sense; the message says where and what was expected."""
