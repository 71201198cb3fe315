# SPDX-License-Identifier: MIT
"""What is kept: run directories, their index, and the removal of what nobody needs."""
