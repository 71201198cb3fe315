# SPDX-License-Identifier: MIT
"""`./p5lab notebook`: the command of JupyterLab, the kernel and the environment of its kernels."""

import json
import os
import subprocess
import sys
import time
from dataclasses import replace

import pytest

from p5lab import packages
from p5lab.cli import main as cli
from p5lab.cli.commands import notebook
from p5lab.errors import STATUS_BAD_INPUT, STATUS_FAILED
from p5lab.host import jupyter, orphans

# Takes the place of JupyterLab: writes its arguments and its environment to a file, prints the
# lines of FAKE_LINES, writes the file with its address and
# token, as JupyterLab does, and ends. With FAKE_WAITS it
# waits for SIGTERM.
FAKE = """
import json, os, pathlib, signal, sys, time
place = pathlib.Path(os.environ["FAKE_PLACE"])
(place / "called.json").write_text(json.dumps({"argv": sys.argv[1:], "env": dict(os.environ)}))
print(os.environ["FAKE_LINES"], flush=True)
if "FAKE_STATUS" in os.environ:
    sys.exit(int(os.environ["FAKE_STATUS"]))
waits = "FAKE_WAITS" in os.environ
if waits:
    def end(number, frame):
        (place / "ended").write_text("by SIGTERM")
        print("[C 2026-11-23 12:04:09.533 ServerApp] received signal 15, stopping", flush=True)
        os._exit(0)
    signal.signal(signal.SIGTERM, end)
about = pathlib.Path(os.environ["JUPYTER_RUNTIME_DIR"]) / f"jpserver-{os.getpid()}.json"
about.write_text(json.dumps({"url": "http://127.0.0.1:9000/", "token": "0123abcd"}))
while waits:
    time.sleep(0.1)
"""
LINES = """[I 2026-11-23 11:57:30.485 ServerApp] Extension package took 0.4452s to import
[W 2026-11-23 11:57:31.000 ServerApp] notebook_shim | a warning
[C 2026-11-23 11:57:34.978 ServerApp]\x20

    To access the server, open this file in a browser:
        http://127.0.0.1:9000/lab?token=0123abcd
[E 2026-11-23 11:57:35.000 ServerApp] Could not open the kernel
    Traceback (most recent call last):
[I 2026-11-23 11:57:36.000 ServerApp] Skipped non-installed server(s): pyright"""


@pytest.fixture
def start(lab, monkeypatch, tmp_path):
    """Returns a function that calls the command and returns the arguments and the environment of
    JupyterLab, which ends at once. The environment of Python is a directory of the test."""
    installed = []
    monkeypatch.setattr(packages, "ensure", installed.append)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))
    (tmp_path / "fake").mkdir()
    (tmp_path / "fake/jupyterlab.py").write_text(FAKE)
    for name, value in (
        ("PYTHONPATH", tmp_path / "fake"),
        ("FAKE_PLACE", tmp_path),
        ("FAKE_LINES", LINES),
        ("JUPYTER_RUNTIME_DIR", tmp_path),
    ):
        monkeypatch.setenv(name, str(value))
    for name in ("first", "second"):
        lab._put(f"notebooks/{name}.ipynb", "{}")

    def call(*arguments, of=lab, status=0):
        assert cli.main(["notebook", *arguments], of) == status
        assert installed[:2] == ["notebook", "report"]
        called = json.loads((tmp_path / "called.json").read_text())
        return called["argv"], called["env"]

    return call


def test_only_the_address_and_errors_are_printed(start, lab, capsys):
    start("second")
    out, err = capsys.readouterr()
    assert out == (
        "JupyterLab: http://127.0.0.1:9000/lab/tree/second.ipynb?token=0123abcd\n"
        f"Ctrl-C stops JupyterLab. Log: {lab.root}/build/notebook.log\n"
    )
    assert err == (
        "[E 2026-11-23 11:57:35.000 ServerApp] Could not open the kernel\n"
        "    Traceback (most recent call last):\n"
    )
    log = lab.root / "build/notebook.log"
    assert log.read_text() == LINES + "\n"
    assert log.stat().st_mode & 0o077 == 0  # it contains the token
    start()
    assert capsys.readouterr().out.startswith(
        "JupyterLab: http://127.0.0.1:9000/lab?token=0123abcd"
    )


def test_a_server_that_cannot_start_says_why(start, lab, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_STATUS", "1")
    monkeypatch.setenv("FAKE_LINES", "Traceback:\nOSError: no port is free")
    start(status=STATUS_FAILED)
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines()[-1] == (
        "p5lab: JupyterLab ended with status 1: OSError: no port is free"
        f" (log: {lab.root}/build/notebook.log)"
    )


def test_ctrl_c_ends_the_server(start, tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("FAKE_WAITS", "yes")

    def stop(*lines, **_):
        print(*lines)
        raise KeyboardInterrupt  # as soon as the address is printed

    monkeypatch.setattr(jupyter, "print", stop, raising=False)
    start(status=cli.STATUS_STOPPED)
    assert (tmp_path / "ended").read_text() == "by SIGTERM"
    err = capsys.readouterr().err
    assert "received signal" not in err
    assert err.endswith("p5lab: stopped: JupyterLab and its kernels; saved notebooks are kept\n")


@pytest.mark.skipif(not orphans.SETPRIV.exists(), reason="no setpriv on this host")
def test_a_killed_p5lab_leaves_no_server(start, tmp_path):
    """The server gets SIGTERM, so that it can end its kernels."""
    program = (
        "import os, pathlib, sys; from p5lab.host import jupyter; jupyter.serve("
        "[sys.executable, '-m', 'jupyterlab'], os.environ, pathlib.Path(sys.argv[1]), '', None)"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "log")]
    with subprocess.Popen(command, env={**os.environ, "FAKE_WAITS": "yes"}) as process:
        try:
            wait_for(tmp_path, "jpserver-*.json")
        finally:
            process.kill()
    wait_for(tmp_path, "ended")


def wait_for(place, pattern):
    """Waits until a file is there."""
    deadline = time.monotonic() + 600
    while not list(place.glob(pattern)):
        assert time.monotonic() < deadline, f"no {pattern}"
        time.sleep(0.1)


def test_a_long_log_begins_anew(lab, tmp_path):
    log = tmp_path / "notebook.log"
    log.write_text("x" * (jupyter.MOST_BYTES + 1))
    with jupyter._opened(log) as file:
        file.write("new")
    assert log.read_text() == "new"


def test_only_this_host_reaches_the_server(start, lab):
    command, _ = start()
    assert "--ServerApp.ip=127.0.0.1" in command
    assert f"--ServerApp.root_dir={lab.root}/notebooks" in command
    text = " ".join(command)
    for word in ("token", "password", "default_url", "no-browser", "port"):
        assert word not in text  # Jupyter's own token stays in use


@pytest.mark.parametrize("name", ["second", "second.ipynb"])
def test_a_name_opens_this_notebook(start, name):
    command, _ = start(name, "--no-browser", "--port", "9000")
    assert "--LabApp.default_url=/lab/tree/second.ipynb" in command
    assert "--no-browser" in command
    assert "--ServerApp.port=9000" in command


@pytest.mark.parametrize(("user", "allowed"), [(0, True), (1000, False)])
def test_root_may_start_it(start, monkeypatch, user, allowed):
    monkeypatch.setattr(os, "geteuid", lambda: user)
    assert ("--allow-root" in start()[0]) == allowed


def test_a_notebook_of_p5lab_path(start, lab, tmp_path, monkeypatch):
    mine = tmp_path / "mine"
    (mine / "notebooks").mkdir(parents=True)
    (mine / "notebooks/own.ipynb").write_text("{}")
    command, environment = start("own", of=replace(lab, path=(mine,)))
    assert f"--ServerApp.root_dir={mine}/notebooks" in command
    assert environment["P5LAB_PATH"] == str(mine)


def test_the_kernel_is_the_python_of_the_environment(start, tmp_path):
    start()
    spec = json.loads((tmp_path / "venv/share/jupyter/kernels/python3/kernel.json").read_text())
    assert spec["argv"][0] == sys.executable
    assert spec["display_name"] == notebook.TITLE
    page = tmp_path / "venv/etc/jupyter/labconfig/page_config.json"
    assert json.loads(page.read_text()) == notebook.PAGE
    page.write_text('{"mine": 1}')
    start()
    assert page.read_text() == '{"mine": 1}'  # the user's own setting stays


def test_install_opens_nothing(start, lab, capsys):
    assert cli.main(["notebook", "--install"], lab) == 0
    assert sys.executable in capsys.readouterr().err


def test_an_unknown_notebook_installs_nothing(lab, monkeypatch, capsys):
    monkeypatch.setattr(packages, "ensure", lambda group: pytest.fail(group))
    lab._put("notebooks/first.ipynb", "{}")
    assert cli.main(["notebook", "frist"], lab) == STATUS_BAD_INPUT
    assert capsys.readouterr().err == ("p5lab: unknown notebook 'frist'; did you mean 'first'?\n")
