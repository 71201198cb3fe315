# SPDX-License-Identifier: MIT
"""The commands: each module adds its own to the parser and has their code."""
