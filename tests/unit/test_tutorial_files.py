# SPDX-License-Identifier: MIT
"""The tutorial changes no file of the checkout. It only adds the files that it names, so `git
status` lists all additions, and removing them undoes everything.
"""

import re
import shlex
import subprocess

import pytest
from fakelab import REPO

FENCE = re.compile(r"^```([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCKS = FENCE.findall((REPO / "docs/start/tutorial.md").read_text())
FILES = [info.partition("file=")[2] for info, _ in BLOCKS if "file=" in info]


def git(*words):
    return subprocess.run(["git", *words], cwd=REPO, capture_output=True, text=True, check=False)


def test_each_block_is_a_new_file_a_command_or_its_output():
    # There is no patch, because the program `patch` may leave a copy of the old file. There is no
    # change of a file of the checkout either.
    kinds = {re.sub(r"file=\S+", "file", info) for info, _ in BLOCKS}
    assert kinds == {"c file", "toml file", "cpp file", "sh", "text"}
    assert len(set(FILES)) == len(FILES) >= 6


@pytest.mark.parametrize("name", FILES)
def test_a_file_of_the_tutorial_is_new_and_git_shows_it(name):
    assert not (REPO / name).exists()
    assert git("check-ignore", "--no-index", name).returncode == 1


@pytest.mark.parametrize("place", ["results/tutorial", "build/engine", ".venv"])
def test_git_does_not_show_what_a_command_writes(place):
    assert git("check-ignore", "--no-index", f"{place}/file").returncode == 0


@pytest.mark.parametrize("command", [text for info, text in BLOCKS if info == "sh"])
def test_the_commands_only_run_experiments(command):
    words = shlex.split(command)
    assert words[:3] == ["./p5lab", "run", "tutorial"]
    assert not {"--output", "--export"} & set(words)  # they name files outside of results
