# SPDX-License-Identifier: MIT
"""The entry point of `python -m p5lab`."""

import sys

try:
    from p5lab.host import closed_pipe

    closed_pipe.allow()
    from p5lab.cli.main import main
except KeyboardInterrupt:  # the modules take half a second to load
    print("p5lab: stopped", file=sys.stderr)
    sys.exit(130)

sys.exit(main())
