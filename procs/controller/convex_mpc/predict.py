"""States along the horizon under given forces; the model of the convex MPC run forward, for display."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def predict_states(
    state: np.ndarray,
    feet: np.ndarray,
    forces: np.ndarray,
    inertia_inverse: np.ndarray,
    mass: float,
    gravity: float,
    dt: float,
) -> np.ndarray:
    """States (horizon, 12) at the end of each stage from `state` (12,), lever arms and forces (horizon, L, 3).

    Yaw is frozen at its first value, as in the optimisation; inertia_inverse (3, 3) in body axes.
    """
    horizon, legs = forces.shape[0], forces.shape[1]
    c, s = math.cos(state[2]), math.sin(state[2])
    out = np.empty((horizon, 12))
    x = state.copy()
    torque, local, rate, acceleration = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for k in range(horizon):
        torque[:] = 0.0
        acceleration[:] = 0.0
        for leg in range(legs):
            r, f = feet[k, leg], forces[k, leg]
            torque[0] += r[1] * f[2] - r[2] * f[1]
            torque[1] += r[2] * f[0] - r[0] * f[2]
            torque[2] += r[0] * f[1] - r[1] * f[0]
            for i in range(3):
                acceleration[i] += f[i] / mass
        acceleration[2] -= gravity
        # R I^-1 R^T torque with R the yaw rotation
        t0, t1 = c * torque[0] + s * torque[1], -s * torque[0] + c * torque[1]
        for i in range(3):
            local[i] = inertia_inverse[i, 0] * t0 + inertia_inverse[i, 1] * t1 + inertia_inverse[i, 2] * torque[2]
        rate[0], rate[1], rate[2] = c * local[0] - s * local[1], s * local[0] + c * local[1], local[2]
        w0, w1, w2 = x[6] + 0.5 * dt * rate[0], x[7] + 0.5 * dt * rate[1], x[8] + 0.5 * dt * rate[2]
        x[0] += dt * (c * w0 + s * w1)
        x[1] += dt * (-s * w0 + c * w1)
        x[2] += dt * w2
        for i in range(3):
            x[3 + i] += dt * (x[9 + i] + 0.5 * dt * acceleration[i])
            x[6 + i] += dt * rate[i]
            x[9 + i] += dt * acceleration[i]
        out[k] = x
    return out
