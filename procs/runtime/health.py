"""Health of a runner: step times and counters as a proc_health message, 1 Hz of wall clock."""

from __future__ import annotations

import secrets
import time

import numpy as np

from lcmtypes.generated import ProcHealth

PERIOD = 1.0  # s


class Times:
    """Durations since the last report."""

    def __init__(self) -> None:
        self._values: list[float] = []

    def add(self, value: float) -> None:
        """One duration."""
        self._values.append(value)

    def take(self) -> tuple[float, float, float]:
        """p50, p99, max since the last take; zeros if there were none."""
        if not self._values:
            return 0.0, 0.0, 0.0
        p50, p99 = np.percentile(self._values, (50, 99))
        most = max(self._values)
        self._values.clear()
        return float(p50), float(p99), float(most)


class Health:
    """Collects a process's figures and says when a report is due."""

    def __init__(self, name: str) -> None:
        self.name = name
        # Ordered by age on one machine, so that of two processes of one name the elder stays.
        self.instance = (time.monotonic_ns() >> 16 << 16) | secrets.randbits(16)
        self.state = "starting"
        self.steps = Times()  # us
        self._due = 0.0
        self._seq = -1

    def due(self) -> bool:
        """True once a second."""
        now = time.monotonic()
        if now < self._due:
            return False
        self._due = now + PERIOD
        return True

    def until_due(self) -> float:
        """Seconds until the next report."""
        return max(0.0, self._due - time.monotonic())

    def message(self) -> ProcHealth:
        """A proc_health with name, state and step times filled in."""
        health = ProcHealth()
        self._seq += 1
        health.utime, health.seq = time.monotonic_ns() // 1000, self._seq
        health.name, health.instance, health.state = self.name, self.instance, self.state
        health.step_p50, health.step_p99, health.step_max = self.steps.take()
        return health
