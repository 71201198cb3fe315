# SPDX-License-Identifier: MIT
"""The host: downloads, builds, tests, files and the terminal."""
