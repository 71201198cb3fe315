# SPDX-License-Identifier: MIT
"""The entry point of `python -m p5lab`."""

import sys

try:
    from p5lab.errors import STATUS_BAD_INPUT, UserError
    from p5lab.host import closed_pipe
    from p5stats.problems import StatsError

    closed_pipe.allow()
    from p5lab.cli.main import main
except KeyboardInterrupt:  # the modules take half a second to load
    print("p5lab: stopped", file=sys.stderr)
    sys.exit(130)
except (UserError, StatsError) as error:  # the modules read the declarations of observers
    print(f"p5lab: {error}", file=sys.stderr)
    sys.exit(STATUS_BAD_INPUT)

sys.exit(main())
