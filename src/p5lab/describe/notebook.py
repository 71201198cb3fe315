# SPDX-License-Identifier: MIT
"""Notebooks: the names and titles of notebooks/NAME.ipynb."""

import json

from p5lab.errors import UserError
from p5lab.lab import Lab


def names(lab: Lab) -> list[str]:
    """The names of all notebooks, in alphabetical order."""
    return list(lab.files("notebook"))


def title(lab: Lab, name: str) -> str:
    """The heading of a notebook. Raises UserError if the file is not a notebook."""
    path = lab.files("notebook")[name]
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        text = "".join(cells[0]["source"])
    except (OSError, ValueError, LookupError, TypeError):
        raise UserError(
            f"{path}: expected a notebook whose first cell begins with a heading"
        ) from None
    return text.partition("\n")[0].lstrip("# ")
