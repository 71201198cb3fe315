# SPDX-License-Identifier: MIT
"""`show --evictions`: who takes whose lines."""

OPTION = """
--evictions  who took lines and pages of caches and TLBs away from whom: short for --by
    cache,loser,winner
"""
BY = ("cache,loser,winner",)
