"""Pages and charts: nothing from outside, nothing lost."""

from __future__ import annotations

import base64
import json
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tools.report import page
from tools.report.charts import NONE, POINTS, Charts


def test_a_page_is_whole_and_asks_for_nothing():
    text = page.document("a <b>", [page.paragraph("x & y")], {"words": "</script><script>alert(1)</script>"})
    assert "<title>a &lt;b&gt;</title>" in text and "x &amp; y" in text
    for target in re.findall(r"""(?:src|href)\s*=\s*["']?([^"'\s>]+)""", text):
        assert target.startswith(("#", "data:")), target
    for word in ("http:", "https:", "@import", "url(", "fetch(", "XMLHttpRequest"):
        assert word not in text
    data = re.search(r'id="data">(.*?)</script>', text, re.S)
    assert data is not None
    assert json.loads(data[1])["words"].startswith("</script>"), "data cannot end its own element"


def test_cells_are_escaped_unless_they_are_html():
    text = page.table(("a", "b"), [["<x>", page.Html("<i>y</i>")], page.Row([1, 2], "cause", 1.5, 2.0)], (1,))
    assert "&lt;x&gt;" in text and '<td class="n"><i>y</i></td>' in text
    assert '<tr class="cause" data-t="1.5000" data-end="2.0000">' in text


def decoded(charts: Charts, curve: dict) -> tuple[np.ndarray, np.ndarray]:
    """(times, values) as page.js has them."""
    time = np.frombuffer(base64.b64decode(charts.time), "<f4")
    raw = np.frombuffer(base64.b64decode(curve["data"]), "<i2").astype(float)
    scale = (curve["high"] - curve["low"]) / 65534
    return time, np.where(raw == NONE, np.nan, curve["low"] + (raw + 32767) * scale)


def curve(values: np.ndarray, moment: float | None = None) -> tuple[np.ndarray, np.ndarray]:
    charts = Charts(np.arange(len(values)) * 0.002, moment)
    charts.lines("x", "m", [("x", "c0", values)])
    return decoded(charts, charts.specs["k0"]["curves"][0])


@settings(deadline=None)
@given(arrays(float, st.integers(2, 400), elements=st.floats(-1e6, 1e6)))
def test_short_curves_keep_every_tick_within_16_bits(values):
    time, got = curve(values)
    assert len(time) == len(values)
    assert got == pytest.approx(values, abs=1e-4 * max(1e-3, float(np.ptp(values))) + 1e-9 * np.abs(values).max())


@pytest.mark.parametrize("ticks", [15000, 100_003])
def test_long_curves_keep_every_peak(ticks):
    rng = np.random.default_rng(1)
    values = rng.normal(size=ticks)
    values[[777, ticks // 2, ticks - 1]] = 50, -60, 40
    time, got = curve(values, 4.0)
    assert len(time) < 1.1 * POINTS + 1200
    assert (np.diff(time) >= 0).all()
    assert got.max() == pytest.approx(50, abs=0.01) and got.min() == pytest.approx(-60, abs=0.01)
    assert time[got.argmax()] == pytest.approx(777 * 0.002, abs=0.1)
    assert got[-2:].max() == pytest.approx(40, abs=0.01)
    near = (time > 3.0) & (time < 4.5)
    at = np.round(time[near] / 0.002).astype(int)
    assert got[near] == pytest.approx(values[at], abs=0.01), "around the moment tick by tick"
    assert near.sum() == pytest.approx(750, abs=2)


def test_missing_values_stay_missing():
    values = np.arange(20000, dtype=float)
    values[5000:9000] = np.nan
    time, got = curve(values)
    inside = (time > 10.1) & (time < 17.9)
    assert np.isnan(got[inside]).all() and np.isfinite(got[~((time > 9.9) & (time < 18.1))]).all()


def test_charts_without_any_value_are_left_out():
    charts = Charts(np.arange(10.0), None)
    assert charts.lines("x", "m", [("a", "c0", None), ("b", "c1", np.full(10, np.nan))]) == ""
    assert charts.specs == {}
