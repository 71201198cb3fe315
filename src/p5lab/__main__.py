# SPDX-License-Identifier: MIT
"""The entry point of `python -m p5lab`."""

import sys

from p5lab.cli.main import main

sys.exit(main())
