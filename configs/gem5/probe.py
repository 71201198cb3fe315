# SPDX-License-Identifier: MIT
"""Write the properties of this gem5 to probe.json in m5out.

`./p5lab run --engine gem5` runs this script first.
"""

import json
import sys
from pathlib import Path

import _m5.core
import m5
import m5.objects
from m5.defines import buildEnv

sys.path.insert(0, str(Path(__file__).parent))

from p5pc import extras

Path(m5.options.outdir, "probe.json").write_text(
    json.dumps(
        {
            "version": _m5.core.gem5Version,
            "x86": bool(buildEnv.get("USE_X86_ISA")),
            "no_extras": extras.why_not(),
            "cpus": [name for name in dir(m5.objects) if name.endswith("CPU")],
        }
    )
)
