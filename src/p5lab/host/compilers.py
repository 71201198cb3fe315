# SPDX-License-Identifier: MIT
"""The host's compilers, which make the engine and the programs that a build runs.

SConstruct and `doctor` read this module, so it uses only the standard library.
"""

import os
import shutil


def cxx() -> str:
    """The C++ compiler: P5LAB_CXX, or the first of g++ and clang++ that is installed."""
    return os.environ.get("P5LAB_CXX") or next(filter(shutil.which, ("g++", "clang++")), "g++")


def cc() -> str:
    """The C compiler of the same family.

    >>> os.environ["P5LAB_CXX"] = "/opt/bin/clang++-19"
    >>> cc()
    '/opt/bin/clang-19'
    """
    directory, slash, name = cxx().rpartition("/")
    return directory + slash + name.replace("clang++", "clang").replace("g++", "gcc")
