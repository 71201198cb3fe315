# SPDX-License-Identifier: MIT
"""Large libraries, which are loaded when a function first uses them.

pandas, numpy and pyarrow take most of the time that a command needs to start, and many commands
make no table. The type annotations of a module with `from __future__ import annotations` load
nothing.
"""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd
    import pyarrow as pa
    import pyarrow.parquet as pq
else:

    class _Library:
        """Stands for a library. The first use of a name loads the library."""

        def __init__(self, name: str) -> None:
            self._name = name

        def __getattr__(self, name: str) -> Any:  # noqa: ANN401
            member = getattr(importlib.import_module(self._name), name)
            setattr(self, name, member)  # the next use does not come here
            return member

    np = _Library("numpy")
    pd = _Library("pandas")
    pa = _Library("pyarrow")
    pq = _Library("pyarrow.parquet")
