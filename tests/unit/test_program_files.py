# SPDX-License-Identifier: MIT
"""`run --file`, `--stdin` and `--args` for a program of a distribution: the archive for the guest,
and bad input."""

import os
import tarfile
from pathlib import Path

import pytest
from fakelab import REPO

from p5lab.cli import main as cli
from p5lab.describe import archive, guest, program_files
from p5lab.describe.program_files import ProgramFiles
from p5lab.describe.request import UserProgram
from p5lab.errors import UserError
from p5lab.lab import Lab
from p5lab.prepare import program


@pytest.fixture
def lab(tmp_path):
    return Lab(tmp_path / "lab")


def members(path):
    with tarfile.open(path) as tar:
        return {one.name: (tar.extractfile(one).read(), one.mode, one.mtime) for one in tar}


def test_the_archive_has_files_input_and_arguments(lab, tmp_path):
    script, text = tmp_path / "run.sh", tmp_path / "text"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o700)
    text.write_bytes(b"a\0b")
    brings = program_files.parse([f"{script}:/root/run", f"{text}:/etc/a/b"], text)
    path = archive.archive(lab, brings, ("{print $1}", "", "ä"))
    assert members(path) == {
        "p5/arguments": ("{print $1}\0\0ä\0".encode(), 0o644, 788918400),
        "p5/stdin": (b"a\0b", 0o644, 788918400),
        "root/run": (b"#!/bin/sh\n", 0o755, 788918400),
        "etc/a/b": (b"a\0b", 0o644, 788918400),
    }
    # init reads only the format ustar, whose header has this text (POSIX.1-1988).
    assert path.read_bytes()[257:263] == b"ustar\0"
    text.touch()
    assert archive.archive(lab, brings, ("{print $1}", "", "ä")) == path


def test_nothing_is_brought_without_options(lab):
    assert archive.archive(lab, program_files.parse([], None), ()) is None


def test_a_guest_takes_arguments_with_spaces(lab):
    real = Lab(REPO)

    def of(arguments, name, files=program_files.NOTHING):
        asked = UserProgram(Path("guest:/usr/bin/awk"), arguments, files=files)
        return program.in_guest(lab, asked, guest.load(real, name))

    made = of("'{print $1}'", "debian32")
    assert made.job == "@run /usr/bin/awk"
    assert made.arguments == ("{print $1}",)
    assert members(made.delivered)["p5/arguments"][0] == b"{print $1}\0"
    assert made.parameters["arguments"] == "{print_$1}"
    with pytest.raises(UserError, match="an argument cannot contain a space"):
        of("'{print $1}'", "debian64")
    with pytest.raises(UserError, match="--stdin: guest debian64 takes no files"):
        of("", "debian64", ProgramFiles(stdin=Path("x")))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("notes.txt", "expected HOST:GUEST"),
        (":/root/a", "expected HOST:GUEST"),
        ("a:root/a", "expected HOST:GUEST"),
        ("a:/root/../a", "expected HOST:GUEST"),
        ("a:/root/", "expected HOST:GUEST"),
        ("a:/", "expected HOST:GUEST"),
        ("a:/root/ä", "printable ASCII"),
        ("a:/proc/a", "/proc belongs to the guest"),
        ("a:/p5/stdin", "/p5 belongs to the guest"),
    ],
)
def test_paths_that_are_refused(text, message):
    with pytest.raises(UserError, match=message) as caught:
        program_files.parse([text], None)
    assert str(caught.value).startswith(f"--file {text}: ")


def test_a_file_that_cannot_be_read_or_is_too_large(lab, tmp_path, monkeypatch):
    for brings, message in (
        (program_files.parse([f"{tmp_path}/none:/root/a"], None), "no such file or directory"),
        (program_files.parse([f"{tmp_path}:/root/a"], None), "a directory"),
        (program_files.parse([], tmp_path / "none"), "--stdin .*: no such file"),
    ):
        with pytest.raises(UserError, match=message):
            archive.archive(lab, brings, ())
    big = tmp_path / "big"
    big.write_bytes(bytes(2 << 20))
    with pytest.raises(UserError, match="the path in the guest is too long"):
        archive.archive(lab, program_files.parse([f"{big}:/{'a' * 101}"], None), ())
    monkeypatch.setattr(archive, "MOST_BYTES", 1 << 20)
    for size in (1 << 20, (1 << 20) + 1):  # the archive is too large, and then the file
        os.truncate(big, size)
        with pytest.raises(UserError, match="bytes; expected at most 1,048,576 bytes; put") as said:
            archive.archive(lab, program_files.parse([f"{big}:/root/a"], None), ())
        assert (f"{big}:/root/a: 1,048,577 bytes" in str(said.value)) == (size > 1 << 20)
    with pytest.raises(UserError, match=r"1024 arguments, .* at most 1023"):
        archive.archive(lab, program_files.NOTHING, ("x",) * 1024)
    with pytest.raises(UserError, match="--args: expected text in UTF-8"):
        archive.archive(lab, program_files.NOTHING, (os.fsdecode(b"\xe9"),))
    assert not lab.root.exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["smoke", "--stdin", "x"], "--stdin: expected with --program;"),
        (["--program", "x.c", "--file", "a:/b"], "--file: expected with --program guest:PATH"),
        (["--program", "guest:/a", "--file", "a:/b", "--file", "c:/b"], "a second file for /b"),
    ],
)
def test_options_without_a_program_of_the_guest(words, message, capsys):
    assert cli.main(["run", *words, "--no-build"]) == 2
    assert message in capsys.readouterr().err
