"""The convex MPC's inputs: where the body shall be at each stage, and where the feet are against it."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def body_path(
    ahead: np.ndarray,
    yaw: float,
    heading: float,
    yaw_rate: float,
    velocity: np.ndarray,
    goal: np.ndarray,
    accel: float,
    target: np.ndarray,
    height: float,
    tilt: np.ndarray,
    slope: np.ndarray,
) -> np.ndarray:
    """Reference (horizon, 12) = roll pitch yaw, x y z, omega, v in the world at the times `ahead` (horizon,) s.

    The commanded motion carried on: `velocity` (2,) m/s in the heading frame slews to `goal` with `accel` m/s^2 while
    the heading turns with `yaw_rate` from `heading` (the held target; the MPC's yaw is near `yaw`). `target` (2,) m
    and `height` m: where the centre of mass shall be now. `tilt` (2,) rad: wanted roll and pitch; `slope` (2,):
    dz/dx, dz/dy of the ground.
    """
    horizon = ahead.shape[0]
    out = np.zeros((horizon, 12))
    x, y, z, before = target[0], target[1], height, 0.0
    change = math.hypot(goal[0] - velocity[0], goal[1] - velocity[1])
    for k in range(horizon):
        part = 0.0 if change < 1e-9 else min(1.0, accel * ahead[k] / change)
        vx = velocity[0] + part * (goal[0] - velocity[0])
        vy = velocity[1] + part * (goal[1] - velocity[1])
        angle = heading + yaw_rate * ahead[k]
        c, s = math.cos(angle), math.sin(angle)
        wx, wy = c * vx - s * vy, s * vx + c * vy
        wz = slope[0] * wx + slope[1] * wy
        step = ahead[k] - before
        before = ahead[k]
        x, y, z = x + step * wx, y + step * wy, z + step * wz
        out[k, 0], out[k, 1], out[k, 2] = tilt[0], tilt[1], yaw + (heading - yaw) + yaw_rate * ahead[k]
        out[k, 3], out[k, 4], out[k, 5] = x, y, z
        out[k, 8] = yaw_rate
        out[k, 9], out[k, 10], out[k, 11] = wx, wy, wz
    return out


@njit(cache=True)
def lever_arms(
    t: float,
    step: float,
    contact: np.ndarray,
    began: np.ndarray,
    anchor: np.ndarray,
    feet: np.ndarray,
    nominal: np.ndarray,
    com: np.ndarray,
    velocity: np.ndarray,
    stance_time: float,
    yaw: float,
    yaw_rate: float,
) -> np.ndarray:
    """Contact points minus the centre of mass (horizon, L, 3), world axes, per stage of the MPC.

    The contact that holds now or comes first, up to the one begun at `anchor` (L,) s, stays at `feet` (L, 3) while the
    body moves on with `velocity`; a later contact lands around the moved hip as the foothold rule says.
    """
    horizon, legs = contact.shape
    out = np.empty((horizon, legs, 3))
    for k in range(horizon):
        ahead = k * step
        angle = yaw + yaw_rate * ahead
        c, s = math.cos(angle), math.sin(angle)
        for leg in range(legs):
            if began[k, leg] > anchor[leg] + 1e-9:
                lead = 0.5 * stance_time - (t + ahead - began[k, leg])
                out[k, leg, 0] = c * nominal[leg, 0] - s * nominal[leg, 1] + velocity[0] * lead
                out[k, leg, 1] = s * nominal[leg, 0] + c * nominal[leg, 1] + velocity[1] * lead
            else:
                out[k, leg, 0] = feet[leg, 0] - com[0] - velocity[0] * ahead
                out[k, leg, 1] = feet[leg, 1] - com[1] - velocity[1] * ahead
            out[k, leg, 2] = feet[leg, 2] - com[2]
    return out
