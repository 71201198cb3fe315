# SPDX-License-Identifier: MIT
"""What gem5's configurations (configs/gem5) and the engine `gem5` have in common.

gem5's own interpreter imports these modules as well as ./p5lab: they need nothing but the standard
library and know nothing of gem5's modules.
"""
