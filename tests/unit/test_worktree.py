# SPDX-License-Identifier: MIT
"""The commit of a checkout, for the records of its runs."""

import shutil
import subprocess

import pytest

from p5lab.host import worktree


@pytest.fixture
def tree(tmp_path):
    """Returns a work tree with one commit, and a function that calls git there."""
    if not shutil.which("git"):
        pytest.skip("git is not installed")

    def git(*words):
        command = ["git", "-c", "user.name=x", "-c", "user.email=x@y", *words]
        return subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True)

    git("init", "-q")
    (tmp_path / "file").write_text("1\n")
    git("add", "file")
    git("commit", "-qm", "one")
    git("tag", "v9")
    worktree.commit.cache_clear()
    return tmp_path, git


def test_the_commit_and_whether_a_file_has_changed(tree):
    root, git = tree
    digits = git("rev-parse", "HEAD").stdout[:12]
    assert worktree.commit(root) == digits
    (root / "new").touch()  # no file of the commit
    worktree.commit.cache_clear()
    assert worktree.commit(root) == digits
    (root / "file").write_text("2\n")
    worktree.commit.cache_clear()
    assert worktree.commit(root) == f"{digits}-dirty"


def test_a_directory_inside_of_another_work_tree_has_no_commit(tree):
    root, _ = tree
    (root / "inner").mkdir()
    assert worktree.commit(root / "inner") == ""


def test_without_git_there_is_no_commit(tree, monkeypatch):
    monkeypatch.setenv("PATH", "")
    assert worktree.commit(tree[0]) == ""
