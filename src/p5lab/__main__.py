# SPDX-License-Identifier: MIT
import sys

from p5lab.cli.main import main

sys.exit(main())
