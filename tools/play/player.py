"""When which message is due: a schedule against absolute time, without clock, log or bus.

Times named `now` are the caller's clock in s; positions are us since the log's start.
"""

from __future__ import annotations

import numpy as np

SLOWEST, FASTEST = 0.1, 20.0


class Player:
    """Pause, seek, step, speed and loop over the stamps of a log."""

    def __init__(
        self, stamps: np.ndarray, streams: np.ndarray, begin: int, end: int, speed: float = 1.0, loop: bool = False
    ) -> None:
        """stamps (n,) us, never falling; streams (n,) which messages replace each other, -1: none. begin <= end, us."""
        self._stamps = stamps
        self._of_stream = [np.flatnonzero(streams == s) for s in np.unique(streams[streams >= 0]).tolist()]
        self.begin, self.end = begin, end
        self.speed, self.loop, self.paused = speed, loop, False
        self.loops = 0
        self._first = int(np.searchsorted(stamps, begin, side="left"))
        self._last = int(np.searchsorted(stamps, end, side="right"))  # one behind
        self._next = self._first
        self._anchor_now, self._anchor = 0.0, float(begin)  # the position at a moment of the caller's clock

    def start(self, now: float) -> list[int]:
        """Play from the beginning; the messages that give the state there."""
        return self.seek(now, self.begin)

    def position(self, now: float) -> float:
        """Where we are, us."""
        if self.paused:
            return self._anchor
        return min(self._anchor + 1e6 * self.speed * (now - self._anchor_now), float(self.end))

    def finished(self, now: float) -> bool:
        """True at the end, unless in a loop."""
        turning = self.loop and self.end > self.begin
        return not turning and not self.paused and self._next >= self._last and self.position(now) >= self.end

    def due(self, now: float, most: int) -> list[int]:
        """Messages to be sent now, `most` at once; what is due beyond them comes with the next call."""
        if self.paused:
            return []
        until = self._anchor + 1e6 * self.speed * (now - self._anchor_now)
        stop = min(int(np.searchsorted(self._stamps, until, side="right")), self._last, self._next + most)
        out = list(range(self._next, stop))
        self._next = max(self._next, stop)
        length = self.end - self.begin
        if self.loop and self._next >= self._last and until >= self.end and length > 0:
            self.loops += 1
            self._anchor_now += (self.end - self._anchor) / (1e6 * self.speed)  # no time is lost in the turn
            self._anchor = float(self.begin)
            self._next = self._first
            out += self.state(self.begin)
        return out

    def wait(self, now: float) -> float | None:
        """s until the next message or the end is due, 0 or less if it is; None while paused or finished."""
        if self.paused or self.finished(now):
            return None
        target = self._stamps[self._next] if self._next < self._last else self.end
        return float((target - self._anchor) / (1e6 * self.speed) - (now - self._anchor_now))

    def until_next(self, now: float) -> float | None:
        """s of log time from here to the next message; below 0: behind; None: no more."""
        if self._next >= self._last:
            return None
        here = self._anchor if self.paused else self._anchor + 1e6 * self.speed * (now - self._anchor_now)
        return float(self._stamps[self._next] - here) / 1e6

    def pause(self, now: float, on: bool) -> None:
        """Stop here, or go on."""
        self._hold(now)
        self.paused = on

    def set_speed(self, now: float, speed: float) -> None:
        """Log seconds per second, from here on."""
        self._hold(now)
        self.speed = min(max(speed, SLOWEST), FASTEST)

    def seek(self, now: float, position: float) -> list[int]:
        """Go to a position, kept between begin and end; the messages that give the state there."""
        position = min(max(position, self.begin), self.end)
        self._anchor_now, self._anchor = now, float(position)
        self._next = max(self._first, int(np.searchsorted(self._stamps, position, side="left")))
        return self.state(position)

    def step(self, now: float) -> list[int]:
        """Pause and go to the next message; all that have its stamp."""
        self.pause(now, True)
        if self._next >= self._last:
            return []
        stamp = self._stamps[self._next]
        stop = min(int(np.searchsorted(self._stamps, stamp, side="right")), self._last)
        out = list(range(self._next, stop))
        self._next, self._anchor = stop, float(stamp)
        return out

    def state(self, position: float) -> list[int]:
        """The newest message of each stream before a position, in log order."""
        before = int(np.searchsorted(self._stamps, position, side="left"))
        last = [which[k - 1] for which in self._of_stream if (k := int(np.searchsorted(which, before)))]
        return sorted(int(k) for k in last)

    def _hold(self, now: float) -> None:
        """Anchor the position here."""
        self._anchor, self._anchor_now = self.position(now), now
