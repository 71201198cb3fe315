# SPDX-License-Identifier: MIT
"""The header with OpenSSL's assembly language (timed-ciphers), made from a source with nine small
scripts, and what a workload with such a header needs.
"""

import importlib.util
import io
import subprocess
import sys
import tarfile

import pytest

from p5lab import engines
from p5lab.describe import experiment
from p5lab.lab import Lab, cache_directory

ROOT = Lab.here().root
BUILDER = ROOT / "workloads/micro/timed-ciphers/build_header.py"
# Like OpenSSL's scripts: the same local label in each, code for a preprocessor, and a text with
# quotes. The last argument is the file.
SCRIPT = r"""
open STDOUT, ">$ARGV[$#ARGV]";
$0 =~ m/(\w+)-[^\/]*$/;
print ".text\n.globl of_$1\nof_$1:\n.L000start:\n#ifdef __CET__\n.byte 1\n#endif\n";
print "\tjmp .L000start\n.asciz \"@ARGV[0,1]\"\n" if "$ENV{CC}" eq "true";
"""


@pytest.fixture(scope="module")
def build():
    spec = importlib.util.spec_from_file_location("build_header", BUILDER)
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def made(build, tmp_path):
    """Returns a function that runs the builder with these environment variables."""
    archive = tmp_path / "openssl.tar"
    with tarfile.open(archive, "w") as tar:
        for script in build.SCRIPTS:
            member = tarfile.TarInfo(f"openssl-3/crypto/{script}")
            member.size = len(SCRIPT)
            tar.addfile(member, io.BytesIO(SCRIPT.encode()))

    def run(**environment):
        return subprocess.run(
            [
                *(sys.executable, BUILDER, "--source", archive),
                *("--cache", cache_directory() / "zig"),
                *("--output", tmp_path / "openssl-586.h"),
            ],
            env=environment,
            capture_output=True,
            text=True,
        )

    return run


def test_equal_local_labels_of_two_scripts_do_not_meet(build, made, tmp_path):
    done = made(PATH="/usr/bin:/bin")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "openssl-586.h").read_text()
    for script in build.SCRIPTS:
        name = script.split("/")[-1].removesuffix(".pl").replace("-", "_")
        assert f'".L_{name}_000start:\\n"' in text
    assert text.count(r".asciz \"elf -DOPENSSL_IA32_SSE2\"") == len(build.SCRIPTS)
    assert "byte" not in text and "CET" not in text
    program = tmp_path / "all.c"
    program.write_text('#include "openssl-586.h"\nint all;\n')
    command = [build.find_zig(), "cc", "-target", "x86-linux-musl", "-c", program.name]
    subprocess.run(command, cwd=tmp_path, check=True)


def test_without_perl_the_header_is_one_line_of_an_error(made, tmp_path):
    done = made(PATH=str(tmp_path))
    assert done.returncode == 1
    assert done.stderr == (
        "build_header: perl is missing: it makes the assembly language of OpenSSL's ciphers\n"
    )
    assert not (tmp_path / "openssl-586.h").exists()


def test_only_runs_of_the_workload_need_the_header():
    header = "build/openssl/openssl-586.h"
    assert header in engines.targets(Lab.here(), experiment.load(Lab.here(), "timed-ciphers"))
    assert header not in engines.targets(Lab.here(), experiment.load(Lab.here(), "timed-loops"))
