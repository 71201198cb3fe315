# SPDX-License-Identifier: MIT
"""Why the numbers can be trusted: published measurements, agreement of engines, the method."""
