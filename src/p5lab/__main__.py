# SPDX-License-Identifier: MIT
import sys

from p5lab.cli import main

sys.exit(main())
