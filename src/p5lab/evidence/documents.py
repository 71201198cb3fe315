# SPDX-License-Identifier: MIT
"""`./p5lab docs`: the generated documents, with their files and the functions that make them."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from p5lab.describe import keys, outputs, papers
from p5lab.describe.experiment import Run
from p5lab.engines.gem5 import engine as gem5
from p5lab.errors import UserError, unknown
from p5lab.evidence import (
    agreement,
    applications,
    block,
    boards,
    calls,
    counter_method,
    document_file,
    lower_bound,
    matrix,
    numbers,
    period,
    validate,
)
from p5lab.execute import runner
from p5lab.execute.runner import Result
from p5lab.lab import Lab
from p5stats import cpi

Execute = Callable[[list[Run]], list[Result]]
UP_TO_DATE, OUT_OF_DATE, WRITTEN, SKIPPED = "up to date", "out of date", "written", "skipped"


class Evidence:
    """The sources of documents: a checkout, and functions that run experiments in this checkout.

    `execute` executes several runs at a time. `one_by_one` executes one run at a time, so that host
    times are comparable. A run that several documents need is executed only once.
    """

    def __init__(self, lab: Lab, execute: Execute, one_by_one: Execute) -> None:
        self.lab, self.execute, self.one_by_one = lab, execute, one_by_one

    @cached_property
    def validation(self) -> validate.Validation:
        """The verdicts on all claims. Raises UserError if a needed run fails."""
        found = validate.run(self.lab, validate.select(self.lab, None), self.execute)
        runner.succeeded(found.failed)
        return found


@dataclass(frozen=True)
class Document:
    """A generated document.

    `file`: the document's path in the checkout. `needs`: the experiments that run before the
    document is made. `needs` is empty if the document uses only files of the checkout. `make`: a
    function that returns the new text from the old text, with the hand-written parts unchanged.
    `gem5`: true if the document needs a gem5 program. Such a document also shows host times. These
    times are different whenever the document is generated again.
    """

    name: str
    file: str
    needs: tuple[str, ...]
    make: Callable[[Evidence, str], str]
    gem5: bool = False


def _crossings(experiment: str) -> Callable[[Evidence, str], str]:
    return lambda of, text: calls.render(of.lab, text, experiment, of.execute)


def _cross_check(of: Evidence, text: str) -> str:
    found = agreement.check(of.lab, agreement.Ask(), of.one_by_one, None)
    runner.succeeded(found.failed)
    return agreement.render(text, found)


def _method(of: Evidence, text: str) -> str:
    text = counter_method.render(of.lab, text, of.execute)
    return lower_bound.render(of.lab, text, of.execute)


CHEN95, STRUCTURE = "chen95-core", "structure"
ALL = (
    Document(
        "machine-keys", "docs/reference/machine-keys.md", (), lambda of, text: keys.reference()
    ),
    Document("papers", "docs/reference/papers.md", (), lambda of, text: papers.reference()),
    Document(
        "formats",
        "docs/reference/formats.md",
        (),
        lambda of, text: block.replace(text, "./p5lab docs formats", outputs.reference()),
    ),
    Document(
        "cpi-stack",
        "docs/concepts/cpi-stack.md",
        (),
        lambda of, text: block.replace(text, "./p5lab docs cpi-stack", cpi.reference()),
    ),
    Document(
        "matrix",
        "docs/evidence/matrix.md",
        (),
        lambda of, text: matrix.render(text, matrix.cells(of.lab)),
    ),
    Document(
        "validation",
        "docs/evidence/validation.md",
        ("the experiments of configs/claims.toml",),
        lambda of, text: validate.render(text, of.validation.results),
    ),
    Document(
        "claims-systems",
        "docs/evidence/claims-systems.md",
        ("the experiments of configs/claims.toml",),
        lambda of, text: validate.render(text, of.validation.results, systems=True),
    ),
    Document(
        "boards",
        "docs/evidence/boards.md",
        ("brown97-memory",),
        lambda of, text: boards.render(of.lab, text, of.execute),
    ),
    Document("crossings", "docs/evidence/crossings.md", (CHEN95,), _crossings(CHEN95)),
    Document("mach", "docs/concepts/mach.md", (STRUCTURE,), _crossings(STRUCTURE)),
    Document(
        "dup",
        "docs/evidence/dup.svg",
        (STRUCTURE,),
        lambda of, text: calls.picture(of.lab, STRUCTURE, of.execute),
    ),
    Document(
        "chen95-method",
        "docs/evidence/chen95-method.md",
        (counter_method.EXPERIMENT, lower_bound.EXPERIMENT),
        _method,
    ),
    Document(
        "period",
        "docs/evidence/period.md",
        (period.EXPERIMENT,),
        lambda of, text: period.render(of.lab, text, of.execute),
    ),
    Document(
        "applications",
        "docs/evidence/applications.md",
        (applications.SCREEN, applications.ANDREW),
        lambda of, text: applications.render(of.lab, text, of.execute),
    ),
    Document(
        "cross-check",
        "docs/evidence/cross-check.md",
        (agreement.EXPERIMENT,),
        _cross_check,
        gem5=True,
    ),
)
BY_NAME = {one.name: one for one in ALL}
NAMES = (*BY_NAME, numbers.NAME)  # `numbers` stands for the numbers in all other documents


def choose(names: Sequence[str]) -> list[Document]:
    """The documents with these names, or all documents if `names` is empty.

    Raises UserError for an unknown name.
    """
    for name in names:
        if name not in BY_NAME:
            raise unknown("document", name, NAMES, where="docs")
    return [BY_NAME[name] for name in dict.fromkeys(names)] if names else list(ALL)


def read(lab: Lab, document: Document) -> str:
    """The current text of the document. Raises UserError if the file cannot be read."""
    return document_file.read(lab.root, document.file)


def render(evidence: Evidence, document: Document, text: str) -> str:
    """The new text of the document.

    Raises UserError if a block is missing in the text. The message names the document's file.
    """
    try:
        return document.make(evidence, text)
    except UserError as error:
        raise UserError(f"{document.file}: {error}", status=error.status) from None


def why_not(document: Document, *, check: bool) -> str:
    """The reason to skip a document that the command does not name, or an empty text."""
    if document.gem5 and not os.environ.get(gem5.VARIABLE):
        return f"needs a gem5: {gem5.VARIABLE} is not set"
    return "shows host times, which differ each time" if document.gem5 and check else ""


def state(*, changed: bool, check: bool) -> str:
    """The state of a document after its generation: UP_TO_DATE if its text has not changed,
    otherwise WRITTEN, or OUT_OF_DATE if `check` prevents the change."""
    if not changed:
        return UP_TO_DATE
    return OUT_OF_DATE if check else WRITTEN


def update(evidence: Evidence, document: Document, *, check: bool) -> str:
    """Generates a document and returns its state: UP_TO_DATE or WRITTEN.

    With `check`, the file does not change, and the state is UP_TO_DATE or OUT_OF_DATE. Raises
    UserError if the file cannot be read or written.
    """
    before = read(evidence.lab, document)
    now = render(evidence, document, before)
    if check or now == before:
        return state(changed=now != before, check=check)
    document_file.write(evidence.lab.root, document.file, now)
    return WRITTEN
