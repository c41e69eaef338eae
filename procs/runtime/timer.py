"""Absolute sleep with a short spin at the end (timer slack and wake-up cost about 60 us on Linux)."""

from __future__ import annotations

import time

SPIN = 120e-6  # s


def sleep_until(deadline: float) -> None:
    """Return at `deadline` of time.monotonic()."""
    left = deadline - time.monotonic()
    if left > SPIN:
        time.sleep(left - SPIN)
    while time.monotonic() < deadline:
        pass
