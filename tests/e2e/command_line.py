# SPDX-License-Identifier: MIT
"""Runs command lines of p5lab in the process of the tests."""

import contextlib
import io

import pytest

from p5lab.cli import main as cli


def ran(lab, *arguments, columns=None):
    """Runs a command line. Returns its exit status, standard output and standard error. `columns`:
    the width of the terminal, or that of the tests' own terminal.
    """
    out, err = io.StringIO(), io.StringIO()
    with (
        pytest.MonkeyPatch.context() as patch,
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
    ):
        if columns:
            patch.setenv("COLUMNS", str(columns))
        status = cli.main(list(arguments), lab)
    return status, out.getvalue(), err.getvalue()
