# SPDX-License-Identifier: MIT
"""The host's own compilers, which make the engine and the programs that a build runs.

SConstruct chooses the C++ compiler and passes it on in P5LAB_CXX.
"""

import os


def cxx() -> str:
    """The host's C++ compiler."""
    return os.environ.get("P5LAB_CXX") or "g++"


def cc() -> str:
    """The C compiler of the same family.

    >>> os.environ["P5LAB_CXX"] = "/opt/bin/clang++-19"
    >>> cc()
    '/opt/bin/clang-19'
    """
    directory, slash, name = cxx().rpartition("/")
    return directory + slash + name.replace("clang++", "clang").replace("g++", "gcc")
