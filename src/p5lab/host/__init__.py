# SPDX-License-Identifier: MIT
"""Code for the host computer: downloads, builds, tests, files and the terminal."""
