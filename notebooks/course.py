# SPDX-License-Identifier: MIT
"""What the notebooks of the lab courses share: predictions, checks with hints, and the file to hand
in. `lab.ipynb` and `lab-structure.ipynb` begin with `course = Course("our group")`.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import pandas as pd


@dataclass
class Question:
    """One number or text that the group predicts, measures and explains."""

    predicted: object = None
    reason: str = ""
    asked: bool = False  # a measurement followed, with a prediction or without one
    late: bool = False  # the prediction was written after the measurement
    answer: float | None = None
    fits: bool = False
    checked: list[float] = field(default_factory=list)  # the different answers that were checked


class Course:
    """The work of a group. The file `hand-in-GROUP.md` is written again after each step, and
    `hand-in-GROUP.json`, from which the work goes on after a restart of the kernel."""

    def __init__(self, group: str, place: str | Path = ".") -> None:
        self.group = group
        self.questions: dict[str, Question] = {}
        self.texts: dict[str, str] = {}
        name = re.sub(r"[^a-z0-9]+", "-", group.lower()).strip("-") or "group"
        self.file = Path(place) / f"hand-in-{name}.md"
        self.kept = self.file.with_suffix(".json")
        if self.kept.is_file():
            kept = json.loads(self.kept.read_text(encoding="utf-8"))
            self.questions = {name: Question(**one) for name, one in kept["questions"].items()}
            self.texts = kept["texts"]
            print(f"your work in {self.file.name} goes on; remove {self.kept.name} to begin again")

    def predict(self, **predictions: object) -> None:
        """Notes predictions: for each name, a pair of a value and the reason for it. The
        measurement follows in the same cell, so the first value stays, and a value that was missing
        then is marked in the file to hand in. A reason can be added later."""
        for name, pair in predictions.items():
            value, reason = pair if isinstance(pair, tuple) and len(pair) == 2 else (pair, None)
            question = self.questions.setdefault(name, Question())
            if question.predicted is None and value is not None:
                question.predicted, question.late = value, question.asked
            elif value != question.predicted:
                print(f"{_shown(name)}: the first prediction stays, because you saw the result")
            question.reason = question.reason or reason or ""
            question.asked = True
            if question.predicted is None or not question.reason:
                print(f'{_shown(name)}: write a value and the reason for it: 100, "because ..."')
        self._write()

    def check(
        self,
        name: str,
        answer: float | None,
        measured: float,
        factor: float = 1.1,
        hints: Sequence[str] = (),
    ) -> None:
        """Compares an answer with a measured number, which it does not print. An answer may differ
        by the factor. Each further wrong answer shows the next hint."""
        question = self.questions.setdefault(name, Question())
        if answer is None:
            print(f"{_shown(name)}: write your answer into the cell above first")
            return
        answer = getattr(answer, "item", lambda: answer)()  # of a number of NumPy
        if isinstance(answer, bool) or not isinstance(answer, int | float):
            print(f"{_shown(name)}: write a number without quotes, such as 4096")
            return
        if question.asked and question.predicted is None:
            print(
                f"{_shown(name)}: there is no prediction; a guess after the result teaches little"
            )
        if answer not in question.checked:
            question.checked.append(answer)
        question.answer = answer
        question.fits = bool(measured / factor <= answer <= measured * factor)
        if question.fits:
            print(f"{_shown(name)}: {_number(answer)} fits the measurement")
        else:
            print(f"{_shown(name)}: {_number(answer)} does not fit the measurement")
            for number, hint in enumerate(hints[: len(question.checked)], 1):
                print(f"  hint {number} of {len(hints)}: {hint}")
        self._write()

    def explain(self, name: str, text: str | None) -> None:
        """Notes an explanation or a program for the teacher."""
        if not text:
            print(f"{_shown(name)}: write it into the cell above first")
            return
        self.texts[name] = text
        print(f"{_shown(name)}: noted for your teacher")
        self._write()

    def program(self, name: str, text: str) -> Path:
        """Writes a program beside the file to hand in, which then contains it, too. Returns its
        path."""
        path = self.file.with_name(f"{self.file.stem}-{name}")
        path.write_text(text, encoding="utf-8")
        self.explain(name, text)
        return path

    def results(self) -> pd.DataFrame:
        """Predictions beside the answers that fit the measurement."""
        rows = [
            {
                "question": _shown(name),
                "predicted": one.predicted,
                "answer": one.answer if one.fits else None,
                "answer / predicted": _ratio(one),
                "reason": one.reason,
            }
            for name, one in self.questions.items()
        ]
        columns = ["question", "predicted", "answer", "answer / predicted", "reason"]
        return pd.DataFrame(rows, columns=columns).fillna("").set_index("question")

    def _write(self) -> None:
        lines = [f"# {self.group}", "", "| question | predicted | answer | tries | reason |"]
        lines.append("|---|---|---|---|---|")
        for name, one in self.questions.items():
            answer = _number(one.answer) if one.fits else "open"
            predicted = "" if one.predicted is None else one.predicted
            if one.late:
                predicted = f"{predicted} (after the measurement)"
            cells = _shown(name), predicted, answer, len(one.checked), one.reason
            lines.append(f"| {' | '.join(str(cell).replace('|', '/') for cell in cells)} |")
        for name, text in self.texts.items():
            lines += ["", f"## {_shown(name)}", "", "```", text.strip(), "```"]
        self.file.write_text("\n".join(lines) + "\n", encoding="utf-8")
        questions = {name: asdict(one) for name, one in self.questions.items()}
        kept = json.dumps({"questions": questions, "texts": self.texts})
        self.kept.write_text(kept, encoding="utf-8")


def _shown(name: str) -> str:
    return name.replace("_", " ")


def _number(value: float | None) -> str:
    return f"{value:,}" if isinstance(value, int) else f"{value:,.6g}"


def _ratio(one: Question) -> float | None:
    numbers = isinstance(one.answer, int | float) and isinstance(one.predicted, int | float)
    return round(one.answer / one.predicted, 2) if numbers and one.fits and one.predicted else None
