# SPDX-License-Identifier: MIT
"""tools/questions.py: the document is the template of its outputs."""

import pytest
import questions


def test_each_answer_is_made_from_its_own_commands(monkeypatch):
    text = questions.PAGE.read_text(encoding="utf-8")
    assert len(questions.ANSWER.findall(text)) == text.count("<!-- output -->") > 2
    ran = []

    def said(command):
        ran.append(command)
        return f"answer {len(ran)}"

    monkeypatch.setattr(questions, "said", said)
    now = questions.ANSWER.sub(questions.answered, text)
    assert questions.ANSWER.sub(lambda found: found[1], now) == questions.ANSWER.sub(
        lambda found: found[1], text
    )
    assert all(command.startswith("./p5lab ") for command in ran)
    last = [commands.splitlines()[-1] for commands in questions.ANSWER.findall(text)]
    for command in last:
        assert f"```text\nanswer {ran.index(command) + 1}\n```" in now


def test_a_command_that_fails_ends_the_tool(monkeypatch, tmp_path):
    monkeypatch.setattr(questions, "ROOT", tmp_path)
    with pytest.raises(SystemExit, match="sh -c"):
        questions.said("sh -c 'echo no >&2; exit 2'")
    assert questions.said("sh -c 'echo a '") == "a"
