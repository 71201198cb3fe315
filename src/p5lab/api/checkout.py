# SPDX-License-Identifier: MIT
"""The checkout in which the functions of `import p5lab` work."""

from p5lab.lab import Lab


def here() -> Lab:
    """The checkout that contains this file. Tests put another laboratory in the place of this
    function."""
    return Lab.here()
