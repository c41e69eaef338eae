"""Fixed-point numbers of MIT-mode and CyberGear frames: u = trunc((clamp(x) - low) (2^n - 1) / (high - low)).

Truncation, as the C cast of the drives (bgkatz motorcontrol, Cheetah SPIne, CyberGear manual); so 0 of a symmetric
range becomes half a quantum below zero. Clamped before scaling. A value that was decoded encodes to its own raw again:
EPSILON covers the rounding of doubles and is far below what any command can mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

EPSILON = 1e-9  # LSB; doubles need 1e-11


def require_finite(name: str, values: ArrayLike) -> None:
    """ValueError that names field, element and value where one is NaN or infinite."""
    array = np.asarray(values, dtype=float)
    bad = ~np.isfinite(array)
    if bad.any():
        where = tuple(int(i) for i in np.argwhere(bad)[0])
        place = f"{name}{list(where)}" if where else name
        raise ValueError(f"{place} = {array[where]}: refused, only finite numbers may be sent")


class FixedPoint:
    """One quantity, or with arrays for low and high a block of them whose last axis runs over `names`."""

    def __init__(self, low: ArrayLike, high: ArrayLike, bits: ArrayLike, names: str | Sequence[str] = "value") -> None:
        self.names = names
        self.low: Any = _plain(np.asarray(low, dtype=float))
        self.high: Any = _plain(np.asarray(high, dtype=float))
        self.top: Any = _plain(2.0 ** np.asarray(bits) - 1)
        if not np.all(np.isfinite(self.low) & np.isfinite(self.high) & (np.asarray(self.high) > self.low)):
            raise ValueError(f"{names}: {low=} must be below {high=}")
        self.span: Any = self.high - self.low
        self.quantum: Any = self.span / self.top
        self._gain: Any = self.top / self.span

    def encode(self, values: ArrayLike) -> NDArray[np.int64]:
        """Raw integers; values beyond the range are clamped."""
        array = np.asarray(values, dtype=float)
        if not np.isfinite(array).all():
            self._refuse(array)
        clamped = np.minimum(np.maximum(array, self.low), self.high)
        return ((clamped - self.low) * self._gain + EPSILON).astype(np.int64)

    def encode_one(self, value: float) -> int:
        """The same for a single number of a single quantity."""
        if not math.isfinite(value):
            require_finite(str(self.names), value)
        clamped = min(max(value, self.low), self.high)
        return int((clamped - self.low) * self._gain + EPSILON)

    def decode(self, raw: Any) -> Any:
        """Numbers of raw integers."""
        return raw * self.span / self.top + self.low

    def saturated(self, raw: Any) -> Any:
        """True where the raw integer stands at an end of the range: the number behind it is unknown."""
        return (raw <= 0) | (raw >= self.top)

    def at_end(self, values: Any) -> Any:
        """The same for numbers decoded elsewhere (a SPIne board decodes for us): within half a quantum of an end."""
        half = 0.5 * self.quantum
        return (values <= self.low + half) | (values >= self.high - half)

    def _refuse(self, array: NDArray[np.float64]) -> None:
        if isinstance(self.names, str):
            require_finite(self.names, array)
        for i, name in enumerate(self.names):
            require_finite(name, array[..., i])


def _plain(array: NDArray[np.float64]) -> Any:
    """Plain numbers stay plain, arrays become read-only."""
    if array.ndim == 0:
        return float(array)
    array = array.copy()
    array.flags.writeable = False
    return array
