# SPDX-License-Identifier: MIT
"""The code that gem5's configurations (configs/gem5) and the engine `gem5` share.

Both gem5's own interpreter and ./p5lab import these modules. So they need only the standard library
and import none of gem5's modules.
"""
