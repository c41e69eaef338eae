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


def fit_plane(points: np.ndarray) -> np.ndarray:
    """Least-squares plane (3,) = (z0, dz/dx, dz/dy) through points (L, 3)."""
    centre = points.mean(axis=0)
    d = points - centre
    xx, xy, yy = float(d[:, 0] @ d[:, 0]), float(d[:, 0] @ d[:, 1]), float(d[:, 1] @ d[:, 1])
    xz, yz = float(d[:, 0] @ d[:, 2]), float(d[:, 1] @ d[:, 2])
    det = xx * yy - xy * xy
    if det < 1e-8:
        return np.array([centre[2], 0.0, 0.0])
    bx, by = (xz * yy - yz * xy) / det, (yz * xx - xz * xy) / det
    return np.array([centre[2] - bx * centre[0] - by * centre[1], bx, by])
