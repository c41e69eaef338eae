"""Where feet land: Raibert's heuristic with capture-point feedback, on the estimated ground plane."""

from __future__ import annotations

import math

import numpy as np
from numba import njit

GRAVITY = 9.81


@njit(cache=True)
def plane_height(plane: np.ndarray, x: float, y: float) -> float:
    """World z of the plane (3,) = (z0, dz/dx, dz/dy) at (x, y), m."""
    return plane[0] + plane[1] * x + plane[2] * y


@njit(cache=True)
def plan_footholds(
    position: np.ndarray,
    yaw: float,
    velocity: np.ndarray,
    wanted: np.ndarray,
    yaw_rate: float,
    nominal: np.ndarray,
    remaining: np.ndarray,
    stance_time: float,
    gain: float,
    reach: float,
    height: float,
    plane: np.ndarray,
    foot_radius: float,
    depth: float,
) -> np.ndarray:
    """Touch-down points (L, 3) of the foot centres, world, m.

    position (3,), velocity (3,) of the body in the world; wanted (2,) m/s in the world; nominal (L, 2) feet at rest in
    the heading frame; remaining (L,) s until touch-down. Each foot lands so that the hip passes over it in the middle
    of its stance (Raibert 1986), shifted by `gain` times the velocity error and by the centripetal term of a turn.
    """
    legs = nominal.shape[0]
    out = np.empty((legs, 3))
    lean = 0.5 * height / GRAVITY
    dx = 0.5 * stance_time * velocity[0] + gain * (velocity[0] - wanted[0]) + lean * velocity[1] * yaw_rate
    dy = 0.5 * stance_time * velocity[1] + gain * (velocity[1] - wanted[1]) - lean * velocity[0] * yaw_rate
    size = math.hypot(dx, dy)
    if size > reach:
        dx, dy = dx * reach / size, dy * reach / size
    for leg in range(legs):
        # The hip turns on with the body until touch-down and through half of the stance.
        angle = yaw + yaw_rate * (remaining[leg] + 0.5 * stance_time)
        c, s = math.cos(angle), math.sin(angle)
        nx, ny = nominal[leg, 0], nominal[leg, 1]
        out[leg, 0] = position[0] + c * nx - s * ny + wanted[0] * remaining[leg] + dx
        out[leg, 1] = position[1] + s * nx + c * ny + wanted[1] * remaining[leg] + dy
        out[leg, 2] = plane_height(plane, out[leg, 0], out[leg, 1]) + foot_radius - depth
    return out


@njit(cache=True)
def feet_in_world(position: np.ndarray, R_wb: np.ndarray, mounts: np.ndarray, p: np.ndarray) -> np.ndarray:
    """Foot centres (L, 3) m in the world from their places p (L, 3) relative to the first joints, body axes."""
    out = np.empty_like(p)
    for leg in range(p.shape[0]):
        for i in range(3):
            out[leg, i] = position[i]
            for k in range(3):
                out[leg, i] += R_wb[i, k] * (p[leg, k] + mounts[leg, k])
    return out


@njit(cache=True)
def fit_plane(points: np.ndarray) -> np.ndarray:
    """Least-squares plane (3,) = (z0, dz/dx, dz/dy) through points (L, 3)."""
    n = points.shape[0]
    cx = cy = cz = 0.0
    for i in range(n):
        cx, cy, cz = cx + points[i, 0] / n, cy + points[i, 1] / n, cz + points[i, 2] / n
    xx = xy = yy = xz = yz = 0.0
    for i in range(n):
        dx, dy, dz = points[i, 0] - cx, points[i, 1] - cy, points[i, 2] - cz
        xx, xy, yy = xx + dx * dx, xy + dx * dy, yy + dy * dy
        xz, yz = xz + dx * dz, yz + dy * dz
    det = xx * yy - xy * xy
    out = np.zeros(3)
    out[0] = cz
    if det >= 1e-8:
        out[1], out[2] = (xz * yy - yz * xy) / det, (yz * xx - xz * xy) / det
        out[0] -= out[1] * cx + out[2] * cy
    return out


@njit(cache=True)
def track_ground(
    feet: np.ndarray,
    stance: np.ndarray,
    contact: np.ndarray,
    foot_radius: float,
    gain: float,
    points: np.ndarray,
    plane: np.ndarray,
    lift: np.ndarray,
) -> None:
    """Update in place: `points` (L, 3) where each leg last stood firmly, `plane` (3,) filtered through them, and
    `lift` (L, 3), the foot centres at the end of the stance, from which the next swing starts."""  # fmt: skip
    for leg in range(feet.shape[0]):
        if stance[leg]:
            lift[leg] = feet[leg]
            if contact[leg] > 0.5:
                points[leg] = feet[leg]
                points[leg, 2] -= foot_radius
    fitted = fit_plane(points)
    for i in range(3):
        plane[i] += gain * (fitted[i] - plane[i])
