"""What left its normal range, in the order in which it began. What is normal stands in rules/*.yaml.

Fields of a rule:
  signal     function of sources.py: (ticks,) or (ticks, n), the n named by `each`; None where the log lacks it
  high, low  bounds: a number, or a function of bounds.py
  when       ticks that count (Context.mask)
  hold       s outside of the range before it counts
  window     s over which the signal is taken: its cause lies up to that much earlier
  late       s after which the signal shows its cause
  words      function of words.py: what the log itself says
  explains   rules that the same cause may trip a moment earlier
  note       worth knowing, but nothing falls of it
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import yaml

from config.types import NonNegative, Number, Section
from tools.report import bounds, sources, words
from tools.report.context import Context
from tools.report.log import intervals

LONGEST = 240  # characters of the log's own words
GROUPS = ("sensors", "messages", "drives", "feet", "limits", "body", "estimate")  # from cause to effect
CALM = 0.25  # of a bound: below it a signal says nothing yet of what is coming
AGAIN = 0.6  # s after which the same is told as a new event
EQUAL = 0.006  # s within which onsets count as equal
CHAIN = 1.5  # s without anything new that separate two stories
REACH = 0.1  # s by which what a rule explains may come before it, besides its window


class Rule(Section):
    """One line of the table."""

    name: str
    title: str
    signal: str
    unit: str = ""
    high: Number | str | None = None
    low: Number | str | None = None
    when: str = "always"
    hold: NonNegative = 0.0
    window: NonNegative = 0.0
    late: NonNegative = 0.0
    each: Literal["", "joint", "leg", "channel", "process"] = ""
    words: str | None = None
    normal: str
    means: str
    look: str
    explains: tuple[str, ...] = ()
    note: bool = False
    group: str = ""  # its file


@cache
def rules() -> tuple[Rule, ...]:
    """All rules in order: of what begins at the same moment the upper one is named first."""
    out = []
    for group in GROUPS:
        rows = yaml.safe_load((Path(__file__).parent / "rules" / f"{group}.yaml").read_text(encoding="utf-8"))
        out += [Rule.model_validate({**row, "group": group}) for row in rows]
    return tuple(out)


@dataclass
class Anomaly:
    """A signal outside of its range."""

    rule: Rule
    rank: int  # place in the table
    begin: float  # s: onset, as far as the signal tells
    end: float
    subjects: list[str]  # names of joints, legs ..., the first one first
    worst: float
    normal: str
    said: str  # the log's own words
    times: int = 1
    seconds: float = 0.0  # outside, in all
    at: int = field(default=0, repr=False)  # tick of crossing
    order: float = field(default=0.0, repr=False)  # s: begin, or that of what it explains

    @property
    def title(self) -> str:
        """Title with its subjects."""
        if not self.subjects or self.subjects == [""]:
            return self.rule.title
        rest = f" and {len(self.subjects) - 3} more" if len(self.subjects) > 4 else ""
        shown = self.subjects if not rest else self.subjects[:3]
        return f"{', '.join(shown)}{rest}: {self.rule.title}"


def find(c: Context, until: float = np.inf) -> list[Anomaly]:
    """All anomalies that begin before `until`, causes first."""
    found = [a for rank, rule in enumerate(rules()) for a in _of(c, rule, rank) if a.begin <= until]
    return _causes_first(found)


def first_cause(found: list[Anomaly], stop: float | None) -> Anomaly | None:
    """The first of the story that leads to `stop`; without one the first of all. Notes are no causes."""
    story = [a for a in found if not a.rule.note]
    if not story:
        return None
    if stop is None:
        return story[0]
    begins = [a for a in story if a.begin <= stop + EQUAL]
    first = None
    reached = stop
    for a in sorted(begins, key=lambda a: -a.begin):
        if a.end < reached - CHAIN:
            continue
        first, reached = a, min(reached, a.begin)
    # `found` has causes first: the uppermost of those that belong to the story.
    return next((a for a in begins if first is not None and a.begin >= first.begin - EQUAL), None)


def _of(c: Context, rule: Rule, rank: int) -> list[Anomaly]:
    signal = getattr(sources, rule.signal)(c)
    if signal is None:
        return []
    x = signal[:, None] if signal.ndim == 1 else signal
    high, low = (_bound(c, b, len(x)) for b in (rule.high, rule.low))
    with np.errstate(invalid="ignore"):
        outside = ((x > high) | (x < low)) & c.mask(rule.when)[:, None]
    if not outside.any():
        return []
    names, out = c.names(rule.each), []
    for column in range(x.shape[1]):
        for begin, end in intervals(outside[:, column]):
            if c.t[end - 1] + c.dt - c.t[begin] < rule.hold - c.dt / 2:
                continue
            beyond = x[begin:end, column]
            worst = float(beyond.max() if (beyond > high[begin:end, 0]).any() else beyond.min())
            onset = _onset(c, rule, np.abs(x[:, column]), high[:, 0], begin)
            normal = rule.normal.format(high=_short(high[begin, 0]), low=_short(low[begin, 0]))
            out.append(
                Anomaly(
                    rule, rank, onset, float(c.t[end - 1] + c.dt), [names[column]], worst, normal, "",
                    seconds=float(c.t[end - 1] + c.dt - c.t[begin]), at=begin,
                )
            )  # fmt: skip
    merged = _merge(out)
    if rule.words:
        say: Callable[[Context, int], str] = getattr(words, rule.words)
        for a in merged:
            a.said = _cut(say(c, a.at))
    return merged


def _bound(c: Context, bound: Any, ticks: int) -> np.ndarray:
    if bound is None:
        return np.full((ticks, 1), np.nan)  # compares as false
    value = getattr(bounds, bound)(c) if isinstance(bound, str) else bound
    return np.broadcast_to(np.asarray(value, dtype=float).reshape(-1, 1), (ticks, 1))


def _onset(c: Context, rule: Rule, size: np.ndarray, high: np.ndarray, begin: int) -> float:
    """Where the signal began to rise within its window; of what shows late, when it happened."""
    k = begin
    while k > 0 and c.t[begin] - c.t[k - 1] <= rule.window and size[k - 1] > CALM * high[begin]:
        k -= 1
    return max(float(c.t[0]), float(c.t[k]) - rule.late)


def _merge(found: list[Anomaly]) -> list[Anomaly]:
    """Columns that begin together are one event, and so is what comes again soon."""
    out: list[Anomaly] = []
    for a in sorted(found, key=lambda a: a.at):
        near = next((b for b in reversed(out) if a.begin - b.end < AGAIN), None)
        if near is None:
            out.append(a)
            continue
        near.times += a.subjects[0] in near.subjects and a.begin > near.end
        near.seconds += max(0.0, a.end - max(near.end, a.end - a.seconds))
        near.end, near.begin = max(near.end, a.end), min(near.begin, a.begin)
        near.worst = max(near.worst, a.worst, key=abs) if a.rule.low is None else min(near.worst, a.worst)
        near.subjects += [s for s in a.subjects if s not in near.subjects]
    return out


def _causes_first(found: list[Anomaly]) -> list[Anomaly]:
    """By onset; equal ones by the table; what a rule explains after it."""
    for a in found:
        a.order = a.begin
    for a in sorted(found, key=lambda a: -a.rank):
        for b in found:
            reach = REACH + a.rule.window + a.rule.late
            if b.rule.name in a.rule.explains and b.order <= a.order <= b.order + reach:
                a.order = b.order
    found.sort(key=lambda a: a.order)
    out: list[Anomaly] = []
    while found:
        together = [a for a in found if a.order <= found[0].order + EQUAL]
        out += sorted(together, key=lambda a: a.rank)
        found = found[len(together) :]
    return out


def _short(value: float) -> str:
    return f"{value:.3g}"


def _cut(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
