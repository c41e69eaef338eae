"""Rotations. Quaternions w x y z; R_wb turns body vectors into world vectors; rpy is Rz(yaw) Ry(pitch) Rx(roll)."""

from __future__ import annotations

import math

import numpy as np
from numba import njit


@njit(cache=True)
def quat_to_matrix(q: np.ndarray) -> np.ndarray:
    """R_wb (3, 3) of a unit quaternion (4,)."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    R = np.empty((3, 3))
    R[0, 0] = 1 - 2 * (y * y + z * z)
    R[0, 1] = 2 * (x * y - w * z)
    R[0, 2] = 2 * (x * z + w * y)
    R[1, 0] = 2 * (x * y + w * z)
    R[1, 1] = 1 - 2 * (x * x + z * z)
    R[1, 2] = 2 * (y * z - w * x)
    R[2, 0] = 2 * (x * z - w * y)
    R[2, 1] = 2 * (y * z + w * x)
    R[2, 2] = 1 - 2 * (x * x + y * y)
    return R


@njit(cache=True)
def quat_to_rpy(q: np.ndarray) -> np.ndarray:
    """Roll, pitch, yaw (3,) rad; pitch within +-pi/2."""
    w, x, y, z = q[0], q[1], q[2], q[3]
    s = min(1.0, max(-1.0, 2 * (w * y - x * z)))
    out = np.empty(3)
    out[0] = math.atan2(2 * (y * z + w * x), w * w - x * x - y * y + z * z)
    out[1] = math.asin(s)
    out[2] = math.atan2(2 * (x * y + w * z), w * w + x * x - y * y - z * z)
    return out


@njit(cache=True)
def rpy_to_quat(rpy: np.ndarray) -> np.ndarray:
    """Unit quaternion (4,) of roll, pitch, yaw (3,)."""
    cr, sr = math.cos(rpy[0] / 2), math.sin(rpy[0] / 2)
    cp, sp = math.cos(rpy[1] / 2), math.sin(rpy[1] / 2)
    cy, sy = math.cos(rpy[2] / 2), math.sin(rpy[2] / 2)
    out = np.empty(4)
    out[0] = cr * cp * cy + sr * sp * sy
    out[1] = sr * cp * cy - cr * sp * sy
    out[2] = cr * sp * cy + sr * cp * sy
    out[3] = cr * cp * sy - sr * sp * cy
    return out


@njit(cache=True)
def rpy_to_matrix(rpy: np.ndarray) -> np.ndarray:
    """R (3, 3) of roll, pitch, yaw (3,)."""
    return quat_to_matrix(rpy_to_quat(rpy))


@njit(cache=True)
def quat_multiply(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Hamilton product a b (4,): first b, then a."""
    out = np.empty(4)
    out[0] = a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3]
    out[1] = a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2]
    out[2] = a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1]
    out[3] = a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]
    return out


@njit(cache=True)
def rotvec_to_quat(v: np.ndarray) -> np.ndarray:
    """Unit quaternion (4,) of a rotation vector (3,) rad."""
    angle = math.sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2])
    k = 0.5 if angle < 1e-9 else math.sin(angle / 2) / angle
    out = np.empty(4)
    out[0] = math.cos(angle / 2)
    out[1] = k * v[0]
    out[2] = k * v[1]
    out[3] = k * v[2]
    return out


@njit(cache=True)
def axis_angle(axis: np.ndarray, angle: float) -> np.ndarray:
    """R (3, 3) about a unit axis (3,) (Rodrigues)."""
    c, s = math.cos(angle), math.sin(angle)
    x, y, z = axis[0], axis[1], axis[2]
    k = 1 - c
    R = np.empty((3, 3))
    R[0, 0] = c + x * x * k
    R[0, 1] = x * y * k - z * s
    R[0, 2] = x * z * k + y * s
    R[1, 0] = y * x * k + z * s
    R[1, 1] = c + y * y * k
    R[1, 2] = y * z * k - x * s
    R[2, 0] = z * x * k - y * s
    R[2, 1] = z * y * k + x * s
    R[2, 2] = c + z * z * k
    return R


@njit(cache=True)
def wrap_angle(angle: float) -> float:
    """The same angle within (-pi, pi]."""
    return math.atan2(math.sin(angle), math.cos(angle))
