# SPDX-License-Identifier: MIT
"""This host: downloads, builds, tests, files, terminal."""
