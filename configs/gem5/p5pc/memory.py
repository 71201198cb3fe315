# SPDX-License-Identifier: MIT
"""Main memory: one bank with the machine's latency and bandwidth."""

from gem5.components.memory.simple import SingleChannelSimpleMemory

from p5lab.engines.gem5.parameters import Parameters


class PentiumMemory(SingleChannelSimpleMemory):
    """One bank, `module`. The bank answers after a fixed time and accepts the next request after
    the last transfer of the line."""

    def __init__(self, parameters: Parameters) -> None:
        super().__init__(
            latency=f"{parameters.memory_latency}ps",
            latency_var="0ps",
            bandwidth=f"{parameters.memory_bandwidth}B/s",
            size=f"{parameters.memory_bytes}B",
        )
