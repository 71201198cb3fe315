# SPDX-License-Identifier: MIT
"""busybox in the guest: the shell that `./p5lab shell` starts, and its tools."""

import re
import subprocess

PROGRAM = "build/busybox/busybox"
USEFUL = "sh ls cat ps mount umount dmesg cp mv rm mkdir df du free uname grep head tail wc stty vi"


def test_it_is_static_and_has_what_a_person_needs(lab):
    shown = subprocess.run([lab.root / PROGRAM, "--list"], capture_output=True, text=True)
    assert set(USEFUL.split()) <= set(shown.stdout.split())
    headers = subprocess.run(
        ["readelf", "--program-headers", lab.root / PROGRAM], capture_output=True, text=True
    )
    assert "INTERP" not in headers.stdout
    assert (lab.root / PROGRAM).stat().st_size < 400_000  # every boot copies it


def test_commands_of_the_guest(boot):
    """A job is a program of /bin with its arguments. The shell in /bin is busybox's shell."""
    run = boot("busybox ls -l /bin/sh /lib/ld-musl-i386.so.1")
    assert run.outcome.status == "ok", run.outcome
    assert re.search(r"/bin/sh -> busybox\n", run.output)
    assert re.search(r"^-rwxr-xr-x .* /lib/ld-musl-i386\.so\.1$", run.output, re.MULTILINE)


def test_the_shell_finds_its_tools_without_links(boot):
    run = boot("sh -c uname;cat</proc/version|wc$IFS-l;free|grep$IFS^Mem:")
    assert run.outcome.status == "ok", run.outcome
    name, lines, memory = run.output.splitlines()
    assert (name, lines) == ("Linux", "1")
    assert 24_000 < int(memory.split()[1]) < 32_768
