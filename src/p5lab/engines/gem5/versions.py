# SPDX-License-Identifier: MIT
"""The gem5 releases that these configurations were tested with, and the CPU models of gem5."""

import re
from collections.abc import Collection

# The first two numbers of a release, the oldest first; configs/gem5/extras lists its own releases.
TESTED = ("24.0",)
CPUS = {
    "timing": "X86TimingSimpleCPU",
    "atomic": "X86AtomicSimpleCPU",
    "minor": "X86MinorCPU",
    "o3": "X86O3CPU",
    "p5": "P5CPU",
}
CHIP = "p5"  # the CPU model that contains caches, TLBs and memory timing (configs/gem5/extras)
# CPU models that do not work in a release although the release contains them, with the reason.
BROKEN_CPUS = {
    ("24.0", "minor"): "it fetches no microcode, so a full system stops at the first macro"
    " instruction (gem5 issue 1206)"
}


def release(version: str) -> str:
    """The release of a version: 24.0.0.1 -> 24.0. A development version such as [DEVELOP-FOR-24.1]
    counts as a separate release."""
    return ".".join(version.split(".")[:2])


def why_not(version: str) -> str:
    """The reason why a version of gem5 is refused: it is older than those that were tested. Empty
    if the version is accepted."""
    return remark(version) if _numbers(version) < _numbers(TESTED[0]) else ""


def remark(version: str) -> str:
    """What a user should know about a version of gem5; empty if it was tested."""
    if release(version) in TESTED:
        return ""
    return f"gem5 {version}: these configurations are tested with {' and '.join(TESTED)}"


def _numbers(version: str) -> list[int]:
    return [int(part) for part in re.findall(r"\d+", version)[:2]]


def why_no_cpu(version: str, cpu: str, objects: Collection[str]) -> str:
    """The reason why a CPU model cannot be used with this gem5; empty if the model can be used."""
    if CPUS[cpu] not in objects:
        return f"--cpu {cpu}: this gem5 was built without {CPUS[cpu]}"
    if reason := BROKEN_CPUS.get((release(version), cpu)):
        return f"--cpu {cpu}: not with gem5 {version}: {reason}"
    return ""
