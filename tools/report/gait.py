"""Footfall patterns: period, duty, phase lags and support of each stretch of a gait, and Hildebrand's diagrams."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np

from config.schema import Gait
from tools.report.context import Context
from tools.report.log import intervals

SHORTEST = 0.02  # s: contacts and gaps below are chatter
STRIDES = 3  # full ones for a pattern to be told
WIDE, HIGH, LEFT = 330, 20, 36  # px of the diagram


@dataclass(frozen=True)
class Footfall:
    """A steady stretch of one gait; per leg in the robot's order. Lags: fraction of the period after the first leg."""

    gait: str
    begin: float  # s
    end: float
    strides: int
    period: float  # s
    spread: float  # s, standard deviation of the periods
    duty: tuple[float, ...]
    lag: tuple[float, ...]
    support: tuple[float, ...]  # share of time on 0, 1, 2 ... feet


def footfalls(c: Context, until: float) -> list[Footfall]:
    """All stretches with enough strides before `until`, from the contacts as felt (else as planned)."""
    contacts = c.feet.felt if c.feet.felt is not None else None if c.feet.planned is None else c.feet.planned > 0
    if contacts is None:
        return []
    gait = np.where(c.signals.walking & ~c.signals.busy & (c.t < until), c.signals.gait, "")
    edges = np.flatnonzero(np.r_[True, gait[1:] != gait[:-1], True])
    found = [_footfall(c, contacts, int(a), int(b)) for a, b in pairwise(edges) if gait[a]]
    return [f for f in found if f is not None]


def _footfall(c: Context, contacts: np.ndarray, begin: int, end: int) -> Footfall | None:
    stances = [_stances(contacts[begin:end, leg], round(SHORTEST / c.dt)) for leg in range(contacts.shape[1])]
    if any(len(s) < STRIDES + 2 for s in stances):
        return None
    # The first and the last stance of each leg are cut by the ends of the stretch.
    downs = [np.array([a for a, _ in s[1:]]) * c.dt for s in stances]
    periods = np.concatenate([np.diff(d) for d in downs])
    period = float(np.median(periods))
    if not period > 0:
        return None
    duty = [float(np.median([(b - a) * c.dt for a, b in s[1:-1]])) / period for s in stances]
    lag = [_lag(downs[0], d, period) for d in downs]
    count = contacts[begin:end].sum(axis=1)
    support = tuple(float((count == n).mean()) for n in range(contacts.shape[1] + 1))
    strides = min(len(d) for d in downs) - 1
    t = c.t[begin], c.t[end - 1]
    return Footfall(
        str(c.signals.gait[begin]), float(t[0]), float(t[1]), strides, period, float(np.std(periods)), tuple(duty),
        tuple(lag), support,
    )  # fmt: skip


def _stances(contact: np.ndarray, least: int) -> list[tuple[int, int]]:
    """Stances [begin, end) in ticks, without chatter."""
    closed: list[tuple[int, int]] = []
    for a, b in intervals(contact):
        if closed and a - closed[-1][1] < least:
            closed[-1] = (closed[-1][0], b)
        else:
            closed.append((a, b))
    return [(a, b) for a, b in closed if b - a >= least]


def _lag(first: np.ndarray, other: np.ndarray, period: float) -> float:
    """Circular mean of the phase of `other` touch-downs after the first leg's, 0..1."""
    before = np.searchsorted(first, other, side="right") - 1
    phase = (other - first[np.maximum(before, 0)])[before >= 0] / period
    mean = np.exp(2j * np.pi * phase).mean() if len(phase) else 1.0
    return float(np.angle(mean) / (2 * np.pi) % 1.0)


def hildebrand(footfall: Footfall, gait: Gait | None, legs: tuple[str, ...]) -> str:
    """One stride: planned stances wide, felt ones narrow, from the first leg's touch-down."""
    high = HIGH * len(legs) + 20
    parts = [f'<svg width="{WIDE + LEFT + 6}" height="{high}" role="img" aria-label="footfall pattern">']
    for k, name in enumerate(legs):
        y = k * HIGH
        parts.append(f'<text class="mute" x="{LEFT - 6}" y="{y + 14}" text-anchor="end">{escape(name)}</text>')
        if gait is not None and len(gait.offsets) == len(legs):
            parts += _bars((gait.offsets[k] - gait.offsets[0]) % 1.0, gait.duty, y + 1, HIGH - 2, "plan")
        parts += _bars(footfall.lag[k], footfall.duty[k], y + 5, HIGH - 10, "felt")
    for tenth in range(0, 11, 2):
        x = LEFT + WIDE * tenth / 10
        parts.append(f'<line class="axis" x1="{x}" x2="{x}" y1="0" y2="{high - 18}"/>')
        parts.append(f'<text class="mute" x="{x}" y="{high - 4}" text-anchor="middle">{10 * tenth} %</text>')
    return "".join(parts) + "</svg>"


def _bars(start: float, length: float, y: float, high: float, kind: str) -> list[str]:
    length = min(length, 1.0)
    spans = [(start, min(1.0, start + length)), (0.0, start + length - 1.0)]
    return [
        f'<rect class="{kind}" x="{LEFT + WIDE * a:.1f}" y="{y}" width="{WIDE * (b - a):.1f}" height="{high}" rx="2"/>'
        for a, b in spans
        if b > a
    ]
