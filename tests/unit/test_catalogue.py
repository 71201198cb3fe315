# SPDX-License-Identifier: MIT
"""The catalogue of metrics (p5stats.metrics): each view takes its metrics from one declaration."""

from pathlib import Path

import pytest

from p5lab.present import column
from p5stats import metrics
from p5stats.metrics import Metric, Shown, View, shown_in

SOURCES = Path(__file__).resolve().parents[2] / "src/p5lab"


@pytest.mark.parametrize("view", View)
def test_each_place_of_a_view_is_given_once(view):
    places = [one.shown.places[view] for one in metrics.metrics(0) if view in one.shown.places]
    numbers = [place[0] if isinstance(place, tuple) else place for place in places]
    assert numbers and len(set(numbers)) == len(numbers)


def test_a_new_metric_is_one_declaration(monkeypatch):
    """A metric of one declaration is in its views, at its place, and --metric knows its names."""
    shown = Shown("half\nofit", "a half", ("half",), {View.SWEEP: 0, View.CURVE: (99, "1/2")})
    new = Metric("halves", "halves", "a test", lambda counts, hz: 0.5, shown)
    known = (*metrics.metrics(0), new)
    monkeypatch.setattr(metrics, "metrics", lambda *_: known)
    monkeypatch.setattr(column.compare, "metrics", lambda *_: known)
    shown_in.cache_clear()
    try:
        assert next(iter(shown_in(View.SWEEP).items())) == ("halves", "half\nofit")
        assert list(shown_in(View.CURVE).items())[-1] == ("halves", "1/2")
        assert "halves" not in shown_in(View.BARS)
        (named,) = column.parse(["half"])
        assert (named.name, named.head) == ("halves", "half\nofit")
    finally:
        shown_in.cache_clear()


def test_no_view_has_a_list_of_metrics_of_its_own():
    names = [one.name for one in metrics.metrics(0) if one.shown.places]
    allowed = {"comparison.py"}  # names the metrics that other metrics are compared by
    for path in (*SOURCES.glob("present/*.py"), *SOURCES.glob("page/*.py")):
        text = path.read_text()
        listed = [name for name in names if f'"{name}",' in text or f'"{name}":' in text]
        assert path.name in allowed or len(listed) < 2, (path, listed)
