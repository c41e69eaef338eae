"""Charts as data for page.js: curves as base64 over one shared time axis, reduced to least and greatest values."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

POINTS = 7000  # of a curve outside of the detailed part
DETAIL = (1.5, 0.7)  # s before and after the moment that is kept tick by tick
LEVELS = 65534
NONE = -32768  # stands for NaN
STYLED = ("c0", "c1", "c2", "c3", "c4", "c5")

Curve = tuple[str, str, "np.ndarray | None"]  # name, style (wanted, est, true, c0..c5), values (ticks,)
Span = tuple[float, float] | tuple[float, float, str]


class Charts:
    """Collects the charts of a page; each method gives the HTML that shows one."""

    def __init__(self, t: np.ndarray, moment: float | None) -> None:
        self._pairs, self._singles = _grid(t, moment)
        times = np.full(2 * len(self._pairs) + len(self._singles), np.nan)
        self._order: np.ndarray
        if len(self._pairs):
            a, b = self._pairs[:, 0], self._pairs[:, 1]
            times = np.r_[t[a], t[(a + b) // 2], t[self._singles]]
        else:
            times = t[self._singles]
        self._order = np.argsort(times, kind="stable")
        self.time = _base64(times[self._order].astype("<f4"))
        self.specs: dict[str, dict[str, Any]] = {}

    def lines(
        self, title: str, unit: str, curves: Sequence[Curve], *, height: int = 150,
        limits: Sequence[tuple[float, str]] = (), span: tuple[float, float] | None = None, least: float = 1e-3,
    ) -> str:  # fmt: skip
        """Curves over time. `span` is always shown, `least` is the smallest range; absent curves are left out."""
        there = [(n, s, v) for n, s, v in curves if v is not None and np.isfinite(v).any()]
        if not there:
            return ""
        spec: dict[str, Any] = {"kind": "lines", "curves": [{"style": s, **self._packed(v)} for _, s, v in there]}
        spec |= {"limits": [{"at": float(a), "text": x} for a, x in limits if np.isfinite(a)], "least": least}
        if span is not None:
            spec["range"] = [float(x) for x in span]
        keys = [
            f'<span><i style="border-color:var(--{s}){";border-style:dashed" if s == "wanted" else ""}"></i>'
            f"{escape(n)}<b></b></span>"
            for n, s, _ in there
        ]
        return self._figure(spec, f"{title}, {unit}" if unit else title, keys, height)

    def lanes(
        self, title: str, rows: Sequence[tuple[str, Sequence[tuple[str, float, Sequence[Span]]]]],
        keys: Sequence[tuple[str, str]] = (), *, height: int = 26, navigator: bool = False,
    ) -> str:  # fmt: skip
        """Rows (name, bars) of bars (colour, share of the row's height, spans (begin, end[, text]))."""
        spec = {
            "kind": "lanes", "navigator": navigator,
            "rows": [
                {"name": n, "bars": [{"colour": c, "share": s, "spans": [_span(x) for x in xs]} for c, s, xs in bars]}
                for n, bars in rows
            ],
        }  # fmt: skip
        words = [f'<span><i class="box" style="background:var(--{c})"></i>{escape(n)}</span>' for n, c in keys]
        return self._figure(spec, title, words, height * len(rows) + 18)

    def path(
        self, title: str, tracks: Sequence[tuple[str, str, np.ndarray]],
        steps: Sequence[tuple[float, float, float, int]], legs: Sequence[str], *, height: int = 380,
    ) -> str:  # fmt: skip
        """Top view: tracks (name, style, (ticks, 2)), footsteps (t, x, y, leg)."""
        spec = {
            "kind": "path",
            "tracks": [{"style": s, "x": self._packed(v[:, 0]), "y": self._packed(v[:, 1])} for _, s, v in tracks],
            "steps": [[round(t, 3), round(x, 3), round(y, 3), leg] for t, x, y, leg in steps],
        }
        keys = [f'<span><i style="border-color:var(--{s})"></i>{escape(n)}</span>' for n, s, _ in tracks]
        keys += [
            f'<span><i class="box" style="background:var(--{STYLED[k % 6]});width:.7em"></i>{escape(n)}</span>'
            for k, n in enumerate(legs)
        ]
        return self._figure(spec, title, keys, height)

    def _figure(self, spec: dict[str, Any], title: str, keys: Sequence[str], height: int) -> str:
        name = f"k{len(self.specs)}"
        self.specs[name] = spec
        caption = f'<figcaption><span class="title">{escape(title)}</span>{"".join(keys)}</figcaption>' if title else ""
        return f'<figure data-chart="{name}">{caption}<div class="plot" style="height:{height}px"></div></figure>'

    def _packed(self, values: np.ndarray) -> dict[str, Any]:
        """Values (ticks,) on the grid, in 16 bits."""
        x = np.asarray(values, dtype=float)
        parts = [x[self._singles]]
        if len(self._pairs):
            parts = [*_extremes(x, self._pairs), *parts]
        y = np.concatenate(parts)[self._order]
        finite = np.isfinite(y)
        low, high = (float(y[finite].min()), float(y[finite].max())) if finite.any() else (0.0, 1.0)
        high = high if high > low else low + 1e-6 * max(1.0, abs(low))
        level = np.full(len(y), NONE, dtype="<i2")
        level[finite] = np.round((y[finite] - low) / (high - low) * LEVELS - LEVELS // 2)
        return {"data": _base64(level), "low": low, "high": high}


def _grid(t: np.ndarray, moment: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Buckets [begin, end) of ticks that are reduced to two values, and ticks that are kept."""
    n = len(t)
    width = int(np.ceil(2 * n / POINTS))
    if width <= 2:
        return np.zeros((0, 2), int), np.arange(n)
    keep = np.zeros(n, bool)
    if moment is not None:
        keep = (t >= moment - DETAIL[0]) & (t <= moment + DETAIL[1])
    pairs = []
    k = 0
    while k < n:
        if keep[k]:
            k += 1
            continue
        end = min(n, k + width)
        inside = keep[k:end]
        end = k + int(inside.argmax()) if inside.any() else end
        pairs.append((k, end))
        k = end
    return np.array(pairs, int).reshape(-1, 2), np.flatnonzero(keep)


def _extremes(x: np.ndarray, pairs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Least and greatest value of each bucket, the one that comes first first; NaN where there is none."""
    wide = int((pairs[:, 1] - pairs[:, 0]).max())
    at = np.minimum(pairs[:, :1] + np.arange(wide), pairs[:, 1:] - 1)
    values = x[at]
    known = np.isfinite(values)
    low, high = np.where(known, values, np.inf).argmin(axis=1), np.where(known, values, -np.inf).argmax(axis=1)
    rows = np.arange(len(values))
    return values[rows, np.minimum(low, high)], values[rows, np.maximum(low, high)]


def _base64(values: np.ndarray) -> str:
    return b64encode(values.tobytes()).decode()


def _span(span: Span) -> list[Any]:
    return [round(float(span[0]), 4), round(float(span[1]), 4), *span[2:]]
