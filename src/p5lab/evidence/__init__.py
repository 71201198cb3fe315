# SPDX-License-Identifier: MIT
"""Evidence for the modelled numbers: the comparison with published measurements, the comparison of
two engines, and the check of a measuring method (chen95)."""
