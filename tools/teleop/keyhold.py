"""KeyHold: which driving keys are held, told from key presses alone. Pure: events with times in, fractions out.

A terminal reports no release. A held key comes again: after a first delay (0.2 to 0.66 s, a setting of the operator's
system), then every 0.03 to 0.1 s. So:

- A first press moves slowly (CREEP) for `first` seconds, longer than any usual delay: a tap is a small step, and a key
  that is held on moves without a gap.
- Once presses follow each other closely the key is held for certain: full speed, until none came for `between`.
- Only the key pressed last comes again. A key that came within its own rhythm just before another was pressed is still
  down: it is carried along (forward and turning), and let go together with the other.

Hence full speed is never asked for more than `between` seconds after the last sign of life from the keyboard.
"""

from __future__ import annotations

from dataclasses import dataclass

FIRST = 0.7  # s, longer than the first delay of key repeat (X11: 0.66 s)
BETWEEN = 0.15  # s, longer than the time between two repeats (macOS: 0.09 s) and some jitter of a network
CREEP = 0.3  # of the set speed, before a key is known to be held
RHYTHM = 1.5  # of a key's own repeat time: what is later than that was let go before the next was pressed


@dataclass
class Held:
    """One key that is down, as far as one can tell."""

    axis: str
    sign: float
    at: float  # s, of its last press
    gap: float = 0.0  # s between its last two presses; 0: there was one only
    repeating: bool = False
    carried: bool = False  # by a key pressed later


class KeyHold:
    """The driving keys. `first` must be longer than the operator's delay before key repeat."""

    def __init__(self, first: float = FIRST, between: float = BETWEEN) -> None:
        self.first, self.between = first, between
        self._held: dict[str, Held] = {}
        self._last = ""  # the key that repeats

    def press(self, key: str, axis: str, sign: float, t: float) -> None:
        """A driving key came at t (for the first time or again)."""
        self._expire(t)
        held = self._held.get(key)
        if held is not None and not held.carried:
            held.gap, held.at = t - held.at, t
            held.repeating = held.repeating or held.gap <= self.between
        else:
            self._carry(t)
            self._held[key] = Held(axis, sign, t)
        self._last = key
        for other in [k for k, h in self._held.items() if h.axis == axis and k != key]:
            del self._held[other]  # of two directions the newer counts

    def release(self) -> None:
        """Let go of everything."""
        self._held.clear()

    def fractions(self, t: float) -> dict[str, float]:
        """What is held at t: axis -> fraction -1..1 of the set speed."""
        self._expire(t)
        last = self._held.get(self._last)
        if last is None:
            return {}
        share = 1.0 if last.repeating else CREEP
        return {held.axis: held.sign * share for held in self._held.values()}

    def _expire(self, t: float) -> None:
        last = self._held.get(self._last)
        if last is None or t - last.at > (self.between if last.repeating else self.first):
            self._held.clear()

    def _carry(self, t: float) -> None:
        """A new key is pressed: keep those that are down for certain, let go of the others."""
        last = self._held.get(self._last)
        if last is None or not (last.repeating and t - last.at <= RHYTHM * last.gap):
            self._held.clear()
        for held in self._held.values():
            held.carried = True
