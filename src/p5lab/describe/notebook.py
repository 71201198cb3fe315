# SPDX-License-Identifier: MIT
"""Notebooks: the names and titles of notebooks/NAME.ipynb."""

import json

from p5lab.errors import UserError
from p5lab.lab import Lab


def titles(lab: Lab) -> dict[str, str]:
    """The headings of all notebooks, by the name of the notebook. Raises UserError if a file is not
    a notebook."""
    found = {}
    for name, path in lab.files("notebook").items():
        try:
            cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
            text = "".join(cells[0]["source"])
        except (OSError, ValueError, LookupError, TypeError):
            raise UserError(
                f"{path}: expected a notebook whose first cell begins with a heading"
            ) from None
        found[name] = text.partition("\n")[0].lstrip("# ")
    return found
