# SPDX-License-Identifier: MIT
"""The clock of the host changes no event (engine/bochs/patches/0013-virtual-time.patch)."""

import subprocess
from pathlib import Path

from boot_sector import TYPING, keys_floppy, planned, prepared

from p5lab.execute import shell

HERE = Path(__file__).parent
# The guest is in HLT while it waits for a key and for the drive, and during the pause. The pause
# does not end at an event of a device.
STEPS = f"""{TYPING}[[script]]
begin = "waiting"
[[script]]
pause = 0.2000001
[[script]]
end = "waiting"
"""


def test_the_clock_of_the_host_changes_no_event(own_lab, tmp_path):
    steps, clock = tmp_path / "steps.toml", tmp_path / "clock.so"
    steps.write_text(STEPS)
    library = ["cc", "-O2", "-shared", "-fPIC", "-o", clock, HERE / "host_clock.c"]
    subprocess.run(library, check=True)
    run = planned(own_lab, keys_floppy(tmp_path), steps)

    def events(name, *words, **environment):
        place = tmp_path / name
        plan = prepared(own_lab, run, place)
        done = subprocess.run(
            (*plan.command, *words),
            cwd=place,
            env={**plan.environment, **environment},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return (place / "events.jsonl").read_text()

    alone = events("alone")
    assert '"op":"end","arg":2147483649' in alone
    assert events("fast", LD_PRELOAD=str(clock)) == alone
    # The engine of `shell` waits for the host's clock.
    assert events("waits", shell.SPEED) == alone
    assert events("waits-less", shell.SPEED, LD_PRELOAD=str(clock)) == alone
