# SPDX-License-Identifier: MIT
"""The clock of the host changes no event (engine/bochs/patches/0013-virtual-time.patch)."""

import subprocess
from pathlib import Path

from boot_sector import FLOPPY, assembled

from p5lab import engines
from p5lab.describe import from_media, script
from p5lab.execute import screen

HERE = Path(__file__).parent
# The guest is in HLT while it waits for a key and for the drive, and during the pause. The pause
# does not end at an event of a device.
STEPS = """schema_version = 1
[[script]]
wait = ">"
[[script]]
end = "boot"
[[script]]
begin = "typing"
[[script]]
type = "abc\\n"
[[script]]
wait = "floppy one"
[[script]]
end = "typing"
[[script]]
begin = "waiting"
[[script]]
pause = 0.2000001
[[script]]
end = "waiting"
"""


def test_the_clock_of_the_host_changes_no_event(own_lab, tmp_path):
    floppy, steps, clock = (tmp_path / name for name in ("one.img", "steps.toml", "clock.so"))
    steps.write_text(STEPS)
    text = b"\r\nfloppy one\0".ljust(512, b"\0")
    floppy.write_bytes((assembled(HERE / "keys.S", tmp_path) + text).ljust(FLOPPY, b"\0"))
    library = ["cc", "-O2", "-shared", "-fPIC", "-o", clock, HERE / "host_clock.c"]
    subprocess.run(library, check=True)
    asked = from_media.Asked((floppy,), scripts=(script.load(steps),))
    choice = from_media.Filter(machines=("p90-premiere2",), limit=60)
    (run,) = from_media.expand(own_lab, asked, choice).runs

    def events(name, *words, **environment):
        place = tmp_path / name
        place.mkdir()
        plan = engines.get(run.engine).prepare(own_lab, run, place)
        for file, content in plan.write.items():
            (place / file).write_bytes(content)
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
    assert events("waits", screen.SPEED) == alone
    assert events("waits-less", screen.SPEED, LD_PRELOAD=str(clock)) == alone
