"""Values that hold for a while: a new span begins where the value changes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

MOST = 10_000  # spans kept


@dataclass
class Span:
    """One value from its first to its last message."""

    begin: int  # us
    end: int  # us
    value: tuple[Any, ...]
    count: int


class Spans:
    """The spans of one stream, given in pieces."""

    def __init__(self) -> None:
        self.spans: list[Span] = []
        self.dropped = 0  # spans beyond the most that are kept

    def add(self, begin: int, end: int, value: tuple[Any, ...], count: int) -> None:
        """`count` further messages of one value, from `begin` to `end` us."""
        last = self.spans[-1] if self.spans else None
        if last is not None and last.value == value and not self.dropped:
            last.end = end
            last.count += count
        elif len(self.spans) < MOST:
            self.spans.append(Span(begin, end, value, count))
        else:
            self.dropped += 1
