"""The Mini Cheetah's filter on filterpy: 6+3L states, 7L measurements, flat ground at height 0.

Differences: any number of legs; heights are those of the contact points, so a foot's centre stands at its radius.
"""

from __future__ import annotations

import numpy as np
from filterpy.kalman import KalmanFilter

from procs.estimator.kalman import Noises


def phase_trust(phase: np.ndarray, window: float) -> np.ndarray:
    """Trust (L,) 0..1 of the stance phases (L,), 0 in swing: rises and falls within `window` at both ends."""
    phase = np.clip(phase, 0.0, 1.0)
    return np.clip(np.minimum(phase, 1.0 - phase) / max(window, 1e-9), 0.0, 1.0)


class ReferenceFilter:
    """State [position, velocity, feet], world axes."""

    def __init__(self, legs: int, noises: Noises, ground: float = 0.0) -> None:
        self.legs = legs
        self.noises = noises
        self.ground = ground  # m, height of a standing foot's centre
        self.kf = KalmanFilter(dim_x=6 + 3 * legs, dim_z=7 * legs, dim_u=3)
        self.kf.x = np.zeros(6 + 3 * legs)
        self.kf.P = 100.0 * np.eye(6 + 3 * legs)
        self.kf.B = np.zeros((6 + 3 * legs, 3))
        H = self.kf.H
        for leg in range(legs):
            H[3 * leg : 3 * leg + 3, 0:3] = np.eye(3)
            H[3 * leg : 3 * leg + 3, 6 + 3 * leg : 9 + 3 * leg] = -np.eye(3)
            H[3 * (legs + leg) : 3 * (legs + leg) + 3, 3:6] = np.eye(3)
            H[6 * legs + leg, 8 + 3 * leg] = 1

    @property
    def position(self) -> np.ndarray:
        """(3,) m, world."""
        return self.kf.x[0:3]

    @property
    def velocity(self) -> np.ndarray:
        """(3,) m/s, world."""
        return self.kf.x[3:6]

    def step(self, offset: np.ndarray, velocity: np.ndarray, trust: np.ndarray, accel: np.ndarray, dt: float) -> None:
        """Foot offsets and their derivatives (L, 3) m, m/s, world; trust (L,); accel (3,) m/s^2, gravity removed."""
        y = self.measurements(offset, velocity, trust)
        self.set_noises(trust, dt)
        self.kf.predict(u=accel)
        self.kf.update(y)
        self.limit_covariance()

    def measurements(self, offset: np.ndarray, velocity: np.ndarray, trust: np.ndarray) -> np.ndarray:
        """(7L,) of the state before the prediction."""
        t = trust[:, None]
        speeds = (1 - t) * self.velocity - t * velocity
        heights = (1 - trust) * (self.position[2] + offset[:, 2]) + trust * self.ground
        return np.concatenate([-offset.ravel(), speeds.ravel(), heights])

    def set_noises(self, trust: np.ndarray, dt: float) -> None:
        """Matrices of this tick."""
        n, legs, kf = self.noises, self.legs, self.kf
        k = 1 + (1 - trust) * n.untrusted
        kf.F[0:3, 3:6] = dt * np.eye(3)
        kf.B[3:6] = dt * np.eye(3)
        q = [np.full(3, n.position_process * dt / 20), np.full(3, n.velocity_process * 9.8 * dt / 20)]
        kf.Q = np.diag(np.concatenate([*q, n.foot_process * dt * np.repeat(k, 3)]))
        r = [np.full(3 * legs, n.foot_position), n.foot_velocity * np.repeat(k, 3), n.foot_height * k]
        kf.R = np.diag(np.concatenate(r))

    def limit_covariance(self) -> None:
        """Symmetry, and the reset of the x, y block, which nothing observes."""
        P = self.kf.P = 0.5 * (self.kf.P + self.kf.P.T)
        if P[0, 0] * P[1, 1] - P[0, 1] * P[1, 0] > 1e-6:
            P[0:2, 2:] = 0.0
            P[2:, 0:2] = 0.0
            P[0:2, 0:2] /= 10
