# SPDX-License-Identifier: MIT
"""The functions of `import p5lab`, for scripts and notebooks (docs/start/python.md)."""
