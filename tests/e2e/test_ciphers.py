# SPDX-License-Identifier: MIT
"""Workload timed-ciphers: its routines have the results of the standards, and a wrong one is found.

The tests are skipped if OpenSSL's source is not on this host. A run of the workload downloads it.
"""

import re
import subprocess
from dataclasses import replace

import hostcc
import pytest

from p5lab.describe import experiment
from p5lab.execute.build_and_run import execute
from p5lab.host.fetch import Fetcher
from p5lab.lab import Lab
from p5lab.progress import Progress
from p5stats import events

LAB = Lab.here()
HEADER = LAB.root / "build/openssl/openssl-586.h"
SMALL = {"bytes": 512, "iterations": 1, "warmup": 0}
# Of each script, the routine that is checked first. An instruction of the script is replaced by
# another one.
ROUTINES = {
    "sha1_586": "SHA-1",
    "aes_586": "AES encryption",
    "sha256_586": "SHA-256",
    "sha512_586": "SHA-512",
    "rc4_586": "RC4",
    "poly1305_x86": "Poly1305",
    "chacha_x86": "ChaCha20",
    "ghash_x86": "GHASH",
    "bf_586": "Blowfish chained",
}
WRONG = {"poly1305_x86": (r"\badcl\b", "addl"), "rc4_586": (r"\bandl \$255", "andl $127")}
XOR = (r"\bxorl (?!(%\w+),\1)", "addl ")  # and not the XOR that clears a register


def has_source():
    fetcher = Fetcher.here(LAB.root)
    return fetcher.is_here(fetcher.resolve("openssl"))


pytestmark = pytest.mark.skipif(not has_source(), reason="OpenSSL's source is not on this host")


@pytest.fixture(scope="module")
def header():
    subprocess.run([LAB.root / "p5lab", "build", str(HEADER.relative_to(LAB.root))], check=True)
    return HEADER.read_text()


def ran_on_host(directory, header):
    """Compiles the program for this host with the text of a header, and runs it."""
    (directory / "openssl-586.h").write_text(header)
    source = LAB.root / "workloads/micro/timed-ciphers/timed-ciphers.c"
    places = (*hostcc.INCLUDE, directory)
    program = hostcc.for_guests(directory / "timed-ciphers", source, places)
    arguments = [f"{name}={value}" for name, value in SMALL.items()]
    return subprocess.run([program, *arguments], capture_output=True, text=True)


@pytest.mark.parametrize(
    "script",
    [
        script if script == "sha1_586" else pytest.param(script, marks=pytest.mark.full)
        for script in ROUTINES
    ],
)
def test_a_wrong_instruction_gives_no_clocks(header, tmp_path, script):
    blocks = header.split("__asm__(")
    (number,) = (i for i, block in enumerate(blocks) if f".L_{script}_" in block)
    blocks[number] = re.sub(*WRONG.get(script, XOR), blocks[number])
    done = ran_on_host(tmp_path, "__asm__(".join(blocks))
    assert done.returncode == 1
    assert done.stderr == f"timed-ciphers: wrong result of {ROUTINES[script]}\n"


def test_every_routine_is_right_on_a_simulated_pentium(header, own_lab):
    (run,) = experiment.load(own_lab, "timed-ciphers")
    small = replace(run, parameters=run.parameters | SMALL)
    (result,) = execute(own_lab, [small], Progress(), no_build=False, jobs=1)
    assert result.status == "ok", result.reason
    found = events.parse(result.directory / "events.jsonl")
    assert {one.phase for one in found.brackets} >= set(range(1, 13))
