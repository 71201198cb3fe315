# SPDX-License-Identifier: MIT
"""Guest linux64: its parts, without a build."""

import subprocess
import sys

from p5lab.describe import guest, workload
from p5lab.lab import Lab

LAB = Lab.here()
ROOT = LAB.root


def test_what_it_cannot_run_is_there_to_be_run_elsewhere():
    linux64, known = guest.load(LAB, "linux64"), workload.load(LAB)
    programs = workload.programs(LAB).keys()
    assert linux64.cannot.keys() <= programs
    cannot = {name: reason for name in known if (reason := linux64.why_never(known[name]))}
    assert {"null", "pairing", "raw-read", "mach-rpc"} <= cannot.keys()
    # The guest can run these workloads of chen95-core. A comparison of engines uses them.
    assert cannot.keys() & {"getpid", "dup", "exec-static", "mem-read", "create"} == set()
    assert {"getpid", "dup"} <= workload.load(LAB).keys()


def test_the_boot_parameters_of_gem5_have_room_for_the_command_line():
    """The memory from 0x90000 to 0x90200 must have enough space for the command line, to which gem5
    adds its own words.
    """
    words = (
        "P5LAB_MARKERS=m5 lpj=1330000 no_timer_check p5seed=4294967295 root=/dev/sda rw rootwait"
    )
    assert len(guest.load(LAB, "linux64").cmdline + " init=/p5/init " + words) < 0x200


def build_kernel(*arguments):
    script = ROOT / "guest-images/linux/build_kernel.py"
    required = ["--source", "a.deb", "--config", "c", "--driver", "d", "--output-dir", "o"]
    done = subprocess.run(
        [sys.executable, script, *required, *arguments], capture_output=True, text=True
    )
    return done.returncode, done.stderr


def test_only_a_kernel_for_i386_is_checked_and_it_always_is():
    check = ["--check-isa", "check_isa.py", "--isa-exceptions", "list.txt"]
    for arguments in (["--arch", "x86_64", *check], [], check[:2]):
        status, said = build_kernel(*arguments)
        assert status == 2
        assert "needed for i386, and for nothing else" in said
