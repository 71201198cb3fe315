# SPDX-License-Identifier: MIT
"""Pages of docs/evidence that contain the record of their runs: reading and changing the record."""

import json


def record(page):
    """Returns the record in the text of a page."""
    return json.loads(page.partition("```json\n")[2].partition("```")[0])


def with_record(page, changed):
    """Returns the text of a page with another record."""
    head, _, rest = page.partition("```json\n")
    return head + "```json\n" + json.dumps(changed) + "\n```" + rest.partition("```")[2]
