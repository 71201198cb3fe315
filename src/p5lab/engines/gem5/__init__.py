# SPDX-License-Identifier: MIT
"""The code that gem5's configurations (configs/gem5) and the engine `gem5` share.

Both gem5's own interpreter and ./p5lab import these modules. So these modules need only the
standard library, and they import no module of gem5.
"""
