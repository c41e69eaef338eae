"""Swing trajectories: cubic Bezier in the plane, two halves in height (FootSwingTrajectory of the reference)."""

from __future__ import annotations

import numpy as np
from numba import njit

from procs.model.legs import solve3


@njit(cache=True)
def _bezier(x: float) -> tuple[float, float, float]:
    """3x^2 - 2x^3 and its two derivatives."""
    return x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x), 6.0 - 12.0 * x


@njit(cache=True)
def swing_point(start: np.ndarray, end: np.ndarray, height: float, s: float, time: float) -> np.ndarray:
    """Position, velocity, acceleration (3, 3) at phase s of a swing of `time` s from start to end (3,), world.

    The top lies `height` above the higher of both ends, so that a step up is cleared.
    """
    out = np.empty((3, 3))
    b, db, ddb = _bezier(s)
    for i in range(2):
        d = end[i] - start[i]
        out[0, i] = start[i] + b * d
        out[1, i] = db * d / time
        out[2, i] = ddb * d / (time * time)
    top = max(start[2], end[2]) + height
    if s < 0.5:
        b, db, ddb = _bezier(2.0 * s)
        z0, d = start[2], top - start[2]
    else:
        b, db, ddb = _bezier(2.0 * s - 1.0)
        z0, d = top, end[2] - top
    out[0, 2] = z0 + b * d
    out[1, 2] = 2.0 * db * d / time
    out[2, 2] = 4.0 * ddb * d / (time * time)
    return out


@njit(cache=True)
def leg_targets(
    stance: np.ndarray,
    progress: np.ndarray,
    swing_time: np.ndarray,
    start: np.ndarray,
    end: np.ndarray,
    height: float,
    R_wb: np.ndarray,
    position: np.ndarray,
    velocity: np.ndarray,
    omega: np.ndarray,
    mounts: np.ndarray,
    foot: np.ndarray,
    wanted_velocity: np.ndarray,
    wanted_omega: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """p_des, v_des, a_des (L, 3) of the feet relative to their first joints, body axes.

    Swing: the trajectory seen from the moving body (position, velocity world; omega body axes). Stance: the foot where
    it is, moving as a resting contact does under the wanted body motion (wanted_* in body axes).
    """
    legs = stance.shape[0]
    p = np.empty((legs, 3))
    v = np.empty((legs, 3))
    a = np.zeros((legs, 3))
    w = np.empty(3)
    for leg in range(legs):
        if stance[leg]:
            for i in range(3):
                p[leg, i] = foot[leg, i]
                w[i] = foot[leg, i] + mounts[leg, i]
            v[leg, 0] = -wanted_velocity[0] - (wanted_omega[1] * w[2] - wanted_omega[2] * w[1])
            v[leg, 1] = -wanted_velocity[1] - (wanted_omega[2] * w[0] - wanted_omega[0] * w[2])
            v[leg, 2] = -wanted_velocity[2] - (wanted_omega[0] * w[1] - wanted_omega[1] * w[0])
            continue
        at = swing_point(start[leg], end[leg], height, progress[leg], swing_time[leg])
        for i in range(3):
            w[i] = 0.0
            v[leg, i] = 0.0
            for k in range(3):
                w[i] += R_wb[k, i] * (at[0, k] - position[k])
                v[leg, i] += R_wb[k, i] * (at[1, k] - velocity[k])
                a[leg, i] += R_wb[k, i] * at[2, k]
        v[leg, 0] -= omega[1] * w[2] - omega[2] * w[1]
        v[leg, 1] -= omega[2] * w[0] - omega[0] * w[2]
        v[leg, 2] -= omega[0] * w[1] - omega[1] * w[0]
        for i in range(3):
            p[leg, i] = w[i] - mounts[leg, i]
    return p, v, a


@njit(cache=True)
def swing_torques(stance: np.ndarray, J: np.ndarray, a: np.ndarray, inertia: np.ndarray, damping: float) -> np.ndarray:
    """Feed-forward torques (3 L,) N m that give swinging feet the accelerations a (L, 3): tau = M J^-1 a.

    M is the diagonal joint inertia (3 L,) kg m^2 (reflected rotors dominate it); J^-1 is damped near singularity.
    """
    legs = stance.shape[0]
    tau = np.zeros(3 * legs)
    for leg in range(legs):
        if stance[leg]:
            continue
        qdd = solve3(J[leg], a[leg], damping)
        for j in range(3):
            tau[3 * leg + j] = inertia[3 * leg + j] * qdd[j]
    return tau
