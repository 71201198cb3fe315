# SPDX-License-Identifier: MIT
"""Large libraries, which are loaded when a function first uses them.

pandas, numpy and pyarrow take most of the time that a command needs to start, and many commands
make no table. A module imports the library itself only for its type annotations:

    if TYPE_CHECKING:
        import pandas as pd
    else:
        from p5stats.lazy import pd
"""

import importlib
from typing import Any


class _Library:
    """Stands for a library. The first use of a name loads the library."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401
        found = getattr(importlib.import_module(self._name), name)
        setattr(self, name, found)  # the next use does not come here
        return found


np = _Library("numpy")
pd = _Library("pandas")
pa = _Library("pyarrow")
pq = _Library("pyarrow.parquet")
