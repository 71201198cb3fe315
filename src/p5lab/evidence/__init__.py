# SPDX-License-Identifier: MIT
"""Evidence for the numbers: published measurements, agreement of engines, the method."""
