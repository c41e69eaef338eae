"""Consecutive events of a log as arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

FINGERPRINT = 8  # bytes at the beginning of a message


@dataclass(frozen=True)
class Block:
    """Consecutive events. `at` and `size` say where in `data` a message lies; `base`: where `data` is in the file."""

    data: bytes
    base: int
    at: np.ndarray  # (n,) int64
    size: np.ndarray  # (n,) int64
    stamp: np.ndarray  # (n,) us
    channel: np.ndarray  # (n,) index into EventFile.channels

    def __len__(self) -> int:
        return len(self.at)

    def by_channel(self) -> Iterator[tuple[int, np.ndarray]]:
        """Channel index and indices (k,) of its events, in log order."""
        order = np.argsort(self.channel, kind="stable")
        names, starts = np.unique(self.channel[order], return_index=True)
        yield from zip(names.tolist(), np.split(order, starts[1:]), strict=True)

    def rows(self, which: np.ndarray, start: int, stop: int) -> np.ndarray:
        """(k, stop - start) bytes `start` to `stop` of the messages `which`; all must be long enough."""
        if start >= stop or not len(which):
            return np.zeros((len(which), stop - start), np.uint8)
        return sliding_window_view(np.frombuffer(self.data, np.uint8), stop - start)[self.at[which] + start]

    def reader(self, which: np.ndarray) -> Callable[[np.ndarray, int, int], np.ndarray]:
        """`rows` of a part of the events: indices into `which`, start, stop."""
        return partial(_rows_of, self, which)


def _rows_of(block: Block, which: np.ndarray, part: np.ndarray, start: int, stop: int) -> np.ndarray:
    return block.rows(which[part], start, stop)


def by_type(block: Block, which: np.ndarray) -> list[tuple[int | None, np.ndarray]]:
    """Messages of one channel by their fingerprint."""
    long = block.size[which] >= FINGERPRINT
    out: list[tuple[int | None, np.ndarray]] = [] if long.all() else [(None, which[~long])]
    which = which[long]
    if len(which):
        prints = block.rows(which, 0, FINGERPRINT).view(">u8")[:, 0]
        if (prints == prints[0]).all():
            return [*out, (int(prints[0]), which)]
        out += [(value, which[prints == value]) for value in np.unique(prints).tolist()]
    return out
