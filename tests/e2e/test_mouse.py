# SPDX-License-Identifier: MIT
"""The mouse in scripts: a small system of our own prints what its driver receives (mouse.S)."""

from pathlib import Path

from boot_sector import FLOPPY, assembled, bootable, new_runs, record

SOURCE = Path(__file__).with_name("mouse.S")
SERIAL = Path(__file__).with_name("serial_mouse.S")


def run(lab, place, *steps, status=0, options=(), source=SOURCE):
    """Runs steps. Returns the run directory."""
    floppy, script = place / "mouse.img", place / "steps.toml"
    floppy.write_bytes(bootable(assembled(source, place), FLOPPY))
    text = "".join(f"[[script]]\n{one}\n" for one in steps)
    script.write_text(f"schema_version = 1\n{text}")
    words = ("--floppy", floppy, "--script", script, "--limit", 20, *options)
    made = new_runs(lab, *words, status=status)
    return made[0] if made else None


ON = ('wait = "mouse off"', 'type = "a"', 'wait = "mouse on"')


def test_motions_and_clicks_reach_the_driver(own_lab, tmp_path):
    steps = (
        *ON,
        "move = [12, -3]",
        'wait = "000c 0003 0000"',
        'begin = "click"',
        'click = "left"',
        'wait = "000c 0003 0000"',
        'end = "click"',
        'click = ["right", "right"]',
        'wait = "000c 0003 0000"',
        'move = [-100, 40]\nholding = "left"',
        'wait = "ffa8 ffdb 0000"',
    )
    made = run(own_lab, tmp_path, *steps)
    found = record(made)
    assert found["status"] == "ok"
    rows = [row.split() for row in (made / "screen.txt").read_text().splitlines() if row]
    # The last motion: 20 reports of 5 counts with the button down, and its release.
    assert [row[2] for row in rows[-22:]] == ["0001"] * 21 + ["0000"]
    assert [row[0] for row in rows[-21:]] == [
        f"{(12 - 5 * number) & 0xFFFF:04x}" for number in (*range(1, 21), 20)
    ]
    assert run(own_lab, tmp_path, *steps, options=["--force"]) is None
    assert record(made)["digests"] == found["digests"]


def test_a_mouse_that_no_driver_has_switched_on_is_one_line(own_lab, tmp_path, capsys):
    made = run(own_lab, tmp_path, 'wait = "mouse off"', "move = [1, 1]", status=1)
    assert record(made)["reason"] == (
        "step 2, move 1 1, steps.toml:4: the guest has not switched the mouse on"
    )


def test_a_serial_mouse_moves_and_clicks(own_lab, tmp_path):
    steps = (
        *ON,
        "move = [12, -3]",
        'wait = "000c fffd 0000"',
        'click = ["left", "right"]',
        "pause = 0.1",
        'move = [-100, 40]\nholding = "left"',
        'wait = "ffa8 0025 0000"',
    )
    options = ["--set", "devices.mouse=serial"]
    made = run(own_lab, tmp_path, *steps, options=options, source=SERIAL)
    assert record(made)["status"] == "ok"
    rows = [row.split() for row in (made / "screen.txt").read_text().splitlines() if row]
    # The button is down during the whole last motion, and up at its end.
    assert [row[2] for row in rows[-22:]] == ["0002"] * 21 + ["0000"]
    buttons = (made / "steps.txt").read_text()
    assert "000c fffd 0002" in buttons  # the left button without a motion
    assert "000c fffd 0001" in buttons


def test_a_serial_mouse_without_power_is_one_line(own_lab, tmp_path):
    options = ["--set", "devices.mouse=serial"]
    steps = ('wait = "mouse off"', "move = [1, 1]")
    made = run(own_lab, tmp_path, *steps, status=1, options=options, source=SERIAL)
    assert record(made)["reason"] == (
        "step 2, move 1 1, steps.toml:4: the guest has not switched the mouse on"
    )


def test_a_serial_mouse_and_the_network_card_need_the_same_interrupt(own_lab, tmp_path, capsys):
    options = ["--set", "devices.mouse=serial", "--set", "net.card=ne2000"]
    assert run(own_lab, tmp_path, *ON, status=2, options=options, source=SERIAL) is None
    assert "devices.mouse: expected ps2, because the network card" in capsys.readouterr().err
