"""Ticks of one channel in one run: which are missing, which came late, which were sent again."""

from __future__ import annotations

import numpy as np

MOST_HOLES = 10_000  # remembered, so that a late message can be told from one sent again


class Losses:
    """Counts over a stream of ticks, given in pieces."""

    def __init__(self) -> None:
        self.first = self.last = 0
        self.count = self.late = self.resent = 0
        self.holes: list[list[int]] = []  # [first, last] missing
        self._lost_beyond = 0  # in holes that are no longer remembered

    @property
    def lost(self) -> int:
        """Ticks between the first and the last that never came."""
        return self._lost_beyond + sum(b - a + 1 for a, b in self.holes)

    def add(self, seqs: np.ndarray) -> None:
        """Further ticks (n,) in the order in which they came."""
        if not len(seqs):
            return
        if not self.count:
            self.first, self.last = int(seqs[0]), int(seqs[0]) - 1
        self.count += len(seqs)
        highest = np.maximum.accumulate(np.concatenate(([self.last], seqs)))
        step = seqs - highest[:-1]
        for k in np.flatnonzero(step != 1).tolist():
            seq = int(seqs[k])
            if step[k] > 1:
                self._open(int(highest[k]) + 1, seq - 1)
            elif seq < self.first:  # came after a later one
                if seq < self.first - 1:
                    self._open(seq + 1, self.first - 1)
                self.first = seq
                self.late += 1
            else:
                self._close(seq)
        self.last = int(highest[-1])

    def _open(self, first: int, last: int) -> None:
        if len(self.holes) < MOST_HOLES:
            self.holes.append([first, last])
        else:
            self._lost_beyond += last - first + 1

    def _close(self, seq: int) -> None:
        for k in range(len(self.holes) - 1, -1, -1):
            a, b = self.holes[k]
            if a <= seq <= b:
                self.late += 1
                self.holes[k : k + 1] = [piece for piece in ([a, seq - 1], [seq + 1, b]) if piece[0] <= piece[1]]
                return
        self.resent += 1
