"""Winding and housing of motors: torque in, temperatures out. Pure, all motors at once.

Two bodies: the winding, warmed by its copper loss R I^2, against the housing, and the housing against the air. In
units of the rise that the continuous torque leads to:
    winding - housing = rise * winding * a,   housing - ambient = rise * (1 - winding) * b,
    da/dt = (x - a) / winding_time,   db/dt = (x - b) / housing_time,   x = loss / loss at the continuous torque
The share and the two times are fitted to the overload times that Xiaomi's CyberGear manual gives for nine torques
(12 N m for 28 s ... 4.5 N m for 2500 s); the fit's own continuous torque, 4.01 N m, is the manual's 4. Other motors of
this size have no such table; they get the same shape around their own continuous torque.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HeatShape:
    """How motors warm up; K, s."""

    rise: float = 55.0  # from 25 deg C to CyberGear's limit of 80 at its continuous torque
    winding: float = 0.196  # share of the rise between winding and housing
    winding_time: float = 47.0
    housing_time: float = 1923.0


class MotorHeat:
    """Temperatures (n,) deg C of motors with a continuous torque (n,) N m at their outputs (inf: it never warms)."""

    def __init__(self, continuous: Array, ambient: float, dt: float, shape: HeatShape = HeatShape()) -> None:
        n = len(continuous)
        self.continuous, self.ambient, self.shape = np.asarray(continuous, dtype=float), ambient, shape
        self._a, self._b = np.zeros(n), np.zeros(n)
        self._extra = np.zeros(n)  # K of the winding that somebody put there; it leaves as the winding cools
        self._gain_a = -math.expm1(-dt / shape.winding_time)
        self._gain_b = -math.expm1(-dt / shape.housing_time)

    def step(self, torque: Array) -> None:
        """One tick under torques (n,) N m at the motors' outputs."""
        x = (torque / self.continuous) ** 2
        self._a += (x - self._a) * self._gain_a
        self._b += (x - self._b) * self._gain_b
        self._extra -= self._extra * self._gain_a

    @property
    def load(self) -> Array:
        """I^2 t: 1 is the rise that the continuous torque leads to, whatever the air's temperature."""
        share = self.shape.winding
        return share * self._a + (1 - share) * self._b

    @property
    def winding(self) -> Array:
        """Deg C."""
        return self.ambient + self.shape.rise * self.load + self._extra

    @property
    def housing(self) -> Array:
        """Deg C."""
        return self.ambient + self.shape.rise * (1 - self.shape.winding) * self._b

    def heat_up(self, motor: int, celsius: float) -> None:
        """Its winding has at least this temperature from now on, then cools by itself."""
        self._extra[motor] = max(self._extra[motor], celsius - (self.winding[motor] - self._extra[motor]))
