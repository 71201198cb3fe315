# SPDX-License-Identifier: MIT
"""The sections of the page of experiment `period`: the systems that boot from a user's media,
beside the guests of the page, and chen95's figures."""

from p5lab.describe import media
from p5lab.evidence import period, records
from p5lab.lab import Lab
from p5lab.page.document import PageSection


def of(lab: Lab) -> list[PageSection]:
    """The sections of the comparison. Their numbers come from the record, so they are complete
    without media. A note names the media that are missing here."""
    return [
        PageSection(
            f"period-{number}",
            part.title,
            [part.text],
            [part.table],
            notes=[_origin(lab)] if number == 0 else [],
        )
        for number, part in enumerate(period.parts(lab))
    ]


def _origin(lab: Lab) -> str:
    missing = period.missing(lab)
    here = (
        f"Missing in {media.VARIABLE}: {', '.join(missing)}." if missing else "All media are here."
    )
    return (
        "The numbers of this section and of the next ones come from the record"
        f" {records.PLACE}/{period.EXPERIMENT}.json and not from the runs of this page. {here} With"
        " all media, ./p5lab docs period makes all runs again. docs/evidence/period.md explains the"
        " tables."
    )
