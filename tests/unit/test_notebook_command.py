# SPDX-License-Identifier: MIT
"""`./p5lab notebook`: the command of JupyterLab, the kernel and the environment of its kernels."""

import json
import os
import sys
from dataclasses import replace

import pytest

from p5lab.cli import main as cli
from p5lab.cli import notebook
from p5lab.errors import STATUS_BAD_INPUT
from p5lab.host import packages


class Started(Exception):
    """JupyterLab would run now."""


@pytest.fixture
def start(lab, monkeypatch, tmp_path):
    """Returns a function that calls the command and returns the command and the environment of
    JupyterLab. The environment of Python is a directory of the test."""
    installed = []
    monkeypatch.setattr(packages, "ensure", installed.append)
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "venv"))

    def execve(path, command, environment):
        assert path == command[0] == sys.executable
        assert installed[:2] == ["notebook", "report"]
        raise Started(command[1:], environment)

    monkeypatch.setattr(os, "execve", execve)
    for name in ("first", "second"):
        lab._put(f"notebooks/{name}.ipynb", "{}")

    def call(*arguments, of=lab):
        with pytest.raises(Started) as started:
            cli.main(["notebook", *arguments], of)
        return started.value.args

    return call


def test_only_this_host_reaches_the_server(start, lab):
    command, _ = start()
    assert command[:2] == ["-m", "jupyterlab"]
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
