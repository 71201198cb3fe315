# SPDX-License-Identifier: MIT
"""The table of four boards: the claims of one paper, with a column for each board."""

import pandas as pd

from p5lab.evidence import boards, published
from p5lab.lab import Lab


def row(source, quantity, published_value, modelled, verdict, role="predicted"):
    error = (modelled - published_value) / published_value * 100
    return {
        "source": source,
        "quantity": quantity,
        "published": published_value,
        "modelled": modelled,
        "error": error,
        "verdict": verdict,
        "role": role,
        "unit": "MB/s",
    }


FOUND = pd.DataFrame(
    [
        row("brown97 figure 3", "A: read", 100.0, 97.0, "holds"),
        row("brown97 figure 4", "A: copy", 50.0, 60.0, "does not hold", "fitted"),
        row("brown97 figure 3", "B: read", 80.0, 80.0, "holds"),
        row("lai96 section 6", "reading", 75.0, 75.0, "holds"),
    ]
)


def test_each_board_has_a_column():
    table = boards.grid(FOUND)
    assert table.heads == ["model / paper", "A", "B"]
    assert table.rows == [
        (
            "read, MB/s",
            "97 / 100 (-3.0 %, predicted: yes)",
            "80 / 80 (+0.0 %, predicted: yes)",
        ),
        ("copy, MB/s", "60 / 50 (+20.0 %, fitted: no)", "-"),
    ]


def test_the_claims_name_the_board_first():
    claims = [one for one in published.load(Lab.here()) if one.source.startswith("brown97 ")]
    machines = {one.quantity.split(": ")[0]: one.machine for one in claims}
    assert len(claims) == 30
    assert sorted(machines.values()) == [
        "p100-endeavour",
        "p100-premiere2",
        "p120-endeavour",
        "p90-endeavour",
    ]
