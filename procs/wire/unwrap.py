"""Multi-turn angles of drives whose position wraps at +-P; state goes in and out.

For MIT-mode drives only: a CyberGear saturates instead, its clamped value must never be unwrapped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


def unwrap(
    wrapped: Array, last: Array, turns: NDArray[np.int64], half_range: Array | float, valid: NDArray[np.bool_]
) -> tuple[Array, Array, NDArray[np.int64]]:
    """(unwrapped rad, new last, new turns) of wrapped positions (n,) in rad.

    `last`: the previous wrapped positions, NaN before the first; `turns`: wraps of 2P so far. Where `valid` is false
    the state does not move and the result is NaN. Two samples must be less than P apart.
    """
    step = np.where(valid & np.isfinite(last), wrapped - last, 0.0)
    wraps = (step < -half_range).astype(np.int64) - (step > half_range)
    turns = turns + wraps
    last = np.where(valid, wrapped, last)
    return np.where(valid, wrapped + 2 * half_range * turns, np.nan), last, turns


def rewrap(target: Array, turns: NDArray[np.int64], half_range: Array | float) -> tuple[Array, NDArray[np.bool_]]:
    """(position to command, reachable): an unwrapped target in the drive's present turn.

    Where it is not reachable (beyond +-P of that turn) it must not be sent: the clamped target would be off by up to
    2P.
    """
    wrapped = target - 2 * half_range * turns
    return wrapped, np.abs(wrapped) <= half_range
