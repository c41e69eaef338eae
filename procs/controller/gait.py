"""Gaits as data on a clock, with switching while walking.

A leg stands for leg phase in [0, duty) and swings for the rest; its phase is the clock's minus its offset. What each
leg really does is a pair of events, `since` and `until`: in a steady gait they follow the clock; after a switch a leg
in the air still lands as planned, and every leg stays on the ground until its first lift-off on the new clock.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from config.schema import Gait

NEVER = 1e9  # s
CANDIDATES = 48  # clock phases tried at a switch
LEAD = 0.03  # s between a switch and the first lift-off, so that the forces can shift first


@njit(cache=True)
def next_lift(t: float, period: float, duty: float, origin: float, offset: float) -> float:
    """Time of a leg's first lift-off at or after t."""
    if duty >= 1.0:
        return NEVER
    phase = ((t - origin) / period - offset) % 1.0
    return t + ((duty - phase) % 1.0) * period


@njit(cache=True)
def contact_table(
    t: float,
    step: float,
    horizon: int,
    stance: np.ndarray,
    since: np.ndarray,
    until: np.ndarray,
    period: float,
    duty: float,
    origin: float,
    offsets: np.ndarray,
    min_stance: float,
) -> tuple[np.ndarray, np.ndarray]:
    """Planned contact (horizon, L) of the stages [t + k step, t + (k+1) step), and when each contact began (s).

    Stage 0 is what holds now; later stages are judged at their middle.
    """
    legs = stance.shape[0]
    contact = np.zeros((horizon, legs), np.uint8)
    began = np.zeros((horizon, legs))
    for leg in range(legs):
        down = stance[leg] != 0
        start, end = since[leg], until[leg]
        for k in range(horizon):
            at = t + (k + 0.5) * step if k else t
            while at >= end:
                start = end
                down = not down
                if down:
                    end = next_lift(start + min_stance, period, duty, origin, offsets[leg])
                else:
                    end = start + (1.0 - duty) * period
            contact[k, leg] = down
            began[k, leg] = start
    return contact, began


class GaitSchedule:
    """Which leg stands and which swings, tick by tick."""

    def __init__(self, gaits: dict[str, Gait], num_legs: int) -> None:
        self._gaits = gaits
        self.stance = np.ones(num_legs, np.int8)
        self.since = np.zeros(num_legs)
        self.until = np.full(num_legs, NEVER)
        self._num_legs = num_legs

    def start(self, t: float, name: str) -> None:
        """All legs on the ground at t, then the gait."""
        self.stance[:] = 1
        self.since[:] = t
        self.until[:] = NEVER
        self._set(name, t)
        self.switch(name, t)

    def _set(self, name: str, origin: float) -> None:
        gait = self._gaits[name]
        self.name, self.period, self.duty, self.origin = name, gait.period, gait.duty, origin
        self.offsets = np.asarray(gait.offsets, dtype=float)
        self.stance_time = self.duty * self.period
        self.swing_time = (1.0 - self.duty) * self.period
        self.min_stance = 0.5 * min(self.stance_time, 0.3)

    def retune(self, gaits: dict[str, Gait], t: float) -> None:
        """Other times or offsets; the gait that runs goes over to its own as to another gait."""
        before, self._gaits = self._gaits[self.name], gaits
        now = gaits[self.name]
        if (now.period, now.duty, now.offsets) != (before.period, before.duty, before.offsets):
            self.switch(self.name, t)

    def switch(self, name: str, t: float) -> None:
        """Go over to a gait; its clock is set so that no leg has to stand longer than necessary."""
        self._set(name, t)
        if self.duty >= 1.0:
            self.until[self.stance == 1] = NEVER
            return
        # A leg that has just landed, or still will, stands for a while before it lifts again.
        landed = np.where(
            self.stance == 1, np.maximum(t + LEAD, self.since + self.min_stance), self.until + self.min_stance
        )
        best = math.inf
        for k in range(CANDIDATES):
            origin = t - k * self.period / CANDIDATES
            lifts = [next_lift(landed[i], self.period, self.duty, origin, o) for i, o in enumerate(self.offsets)]
            begins = np.where(self.stance == 1, self.since, self.until)
            # The longest stance counts, the sum decides between equals.
            cost = max(lifts - np.maximum(begins, t - self.stance_time)) + 0.01 * sum(lifts - landed)
            if cost < best - 1e-9:
                best, self.origin, chosen = cost, origin, lifts
        standing = self.stance == 1
        self.until[standing] = np.asarray(chosen)[standing]

    def update(self, t: float) -> None:
        """Advance to t: legs whose time has come lift off or land."""
        for leg in range(self._num_legs):
            if t < self.until[leg]:
                continue
            now = self.until[leg]
            self.since[leg] = now
            if self.stance[leg]:
                self.stance[leg] = 0
                self.until[leg] = now + self.swing_time
            else:
                self.stance[leg] = 1
                self.until[leg] = next_lift(
                    now + self.min_stance, self.period, self.duty, self.origin, self.offsets[leg]
                )

    def table(self, t: float, step: float, horizon: int) -> tuple[np.ndarray, np.ndarray]:
        """contact_table from the state at t."""
        return contact_table(
            t,
            step,
            horizon,
            self.stance,
            self.since,
            self.until,
            self.period,
            self.duty,
            self.origin,
            self.offsets,
            self.min_stance,
        )

    def phase(self, t: float) -> float:
        """0..1 of the gait's clock."""
        return ((t - self.origin) / self.period) % 1.0

    def progress(self, t: float) -> np.ndarray:
        """0..1 within the current stance or swing of each leg (stance without an end: 0.5)."""
        whole = self.until - self.since
        return np.where(self.until >= NEVER, 0.5, np.clip((t - self.since) / np.maximum(whole, 1e-9), 0.0, 1.0))
