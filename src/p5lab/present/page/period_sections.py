# SPDX-License-Identifier: MIT
"""The sections of the page of experiment `period`: the systems that boot from a user's media,
beside the guests of the page, chen95's figures, and what they say about each structure."""

from p5lab.describe import media
from p5lab.evidence import period
from p5lab.lab import Lab
from p5lab.present.page.document import Section


def of(lab: Lab) -> list[Section]:
    """The sections of docs/evidence/period.md. Their numbers come from its record, so they are
    complete without media. A note names the media that are missing here."""
    sections = []
    for number, part in enumerate(period.parts(lab)):
        notes = [_origin(lab)] if number == 0 else []
        sections.append(
            Section(f"period-{number}", part.title, part.text, part.tables, notes=notes)
        )
    return sections


def _origin(lab: Lab) -> str:
    missing = period.missing(lab)
    here = (
        f"Missing in {media.VARIABLE}: {', '.join(missing)}." if missing else "All media are here."
    )
    return (
        "The numbers of this section and of the next ones come from the record in"
        f" {period.DOCUMENT} and not from the runs of this page. {here} With all media,"
        f" {period.COMMAND} makes all runs again."
    )
