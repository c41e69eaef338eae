"""When a dead process may be started again: at growing intervals, and not for ever. Pure; the caller has the clock."""

from __future__ import annotations

FIRST = 0.5  # s from the first death to the new start
LONGEST = 8.0  # s; each further death doubles the wait up to this
LIMIT = 5  # starts within WINDOW; one that dies more often does not live by being started again
WINDOW = 60.0  # s


class Restarts:
    """The restarts of one process."""

    def __init__(self) -> None:
        self.total = 0
        self._times: list[float] = []  # of the deaths within the window

    def wait(self, now: float) -> float | None:
        """It died at `now`, s: how long to wait before it is started again; None: no more."""
        self._times = [t for t in self._times if now - t < WINDOW]
        if len(self._times) >= LIMIT:
            return None
        self._times.append(now)
        self.total += 1
        return min(LONGEST, FIRST * 2 ** (len(self._times) - 1))

    @property
    def within(self) -> int:
        """Restarts within the window."""
        return len(self._times)
