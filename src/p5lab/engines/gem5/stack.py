# SPDX-License-Identifier: MIT
"""The first stack of a 32-bit program in gem5's system-call emulation: environment and offset in a
page as in guest linux, so that data on the stack have the same lines of L1D."""

from collections.abc import Sequence

ENVIRONMENT = ("HOME=/", "TERM=linux", "P5LAB_DATA=/data")  # of guest linux
PAD = "PAD="
ALIGNMENT, WORD, PAGE = 16, 4, 4096
RANDOM_BYTES = 16  # AT_RANDOM
# The platform's name (AT_PLATFORM) and the words of the auxiliary vector: in Linux 6.1 on a Pentium
# (create_elf_tables in fs/binfmt_elf.c), and in gem5 24.0 (X86Process::argsInit).
LINUX_PLATFORM, LINUX_WORDS = "i586", 44
GEM5_PLATFORM, GEM5_WORDS = "x86_64", 40


def _up(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


def _bytes(texts: Sequence[str]) -> int:
    """The size of C strings."""
    return sum(len(text) + 1 for text in texts)


def _pointers(arguments: Sequence[str], environment: Sequence[str]) -> int:
    """The size of argc and of both lists with their zeros."""
    return WORD * (1 + len(arguments) + 1 + len(environment) + 1)


def linux_size(arguments: Sequence[str], environment: Sequence[str]) -> int:
    """The bytes between Linux's first stack pointer and the top of the stack."""
    strings = _up(WORD + _bytes([arguments[0], *environment, *arguments]))
    others = len(LINUX_PLATFORM) + 1 + RANDOM_BYTES + WORD * LINUX_WORDS
    return _up(strings + others + _pointers(arguments, environment))


def gem5_size(arguments: Sequence[str], environment: Sequence[str]) -> int:
    """The bytes between gem5's first stack pointer and the top of the stack."""
    strings = _up(WORD + _bytes([arguments[0], *environment, *arguments]))
    others = len(GEM5_PLATFORM) + 1 + RANDOM_BYTES + WORD * GEM5_WORDS
    return strings + _up(others + _pointers(arguments, environment))


def environment(arguments: Sequence[str]) -> list[str]:
    """The environment of guest linux, and a variable that moves gem5's stack pointer to the offset
    in a page that it has there."""
    wanted = linux_size(arguments, ENVIRONMENT) % PAGE
    for length in range(PAGE + ALIGNMENT):
        padded = [*ENVIRONMENT, PAD + "x" * length]
        if gem5_size(arguments, padded) % PAGE == wanted:
            return padded
    raise AssertionError("both sizes are multiples of the alignment")
