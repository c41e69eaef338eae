"""Rotations of whole runs. Quaternions w x y z (ticks, 4); R (ticks, 3, 3) turns body vectors into world vectors."""

from __future__ import annotations

import numpy as np


def matrices(quat: np.ndarray) -> np.ndarray:
    """R (ticks, 3, 3) of unit quaternions."""
    w, x, y, z = quat.T
    rows = (
        (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
        (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
        (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
    )
    return np.moveaxis(np.array(rows), 2, 0)


def roll_pitch_yaw(R: np.ndarray) -> np.ndarray:
    """(ticks, 3) rad of Rz(yaw) Ry(pitch) Rx(roll)."""
    return np.stack(
        (
            np.arctan2(R[:, 2, 1], R[:, 2, 2]),
            np.arcsin(np.clip(-R[:, 2, 0], -1, 1)),
            np.arctan2(R[:, 1, 0], R[:, 0, 0]),
        ),
        axis=1,
    )


def rotate(R: np.ndarray, v: np.ndarray) -> np.ndarray:
    """R v for v (ticks, 3) or (ticks, n, 3)."""
    return np.einsum("kij,k...j->k...i", R, v)


def heading_frame(v: np.ndarray, yaw: np.ndarray) -> np.ndarray:
    """World vectors (ticks, 3) in the frame turned by the yaw (ticks,) alone."""
    c, s = np.cos(yaw), np.sin(yaw)
    return np.stack((c * v[:, 0] + s * v[:, 1], -s * v[:, 0] + c * v[:, 1], v[:, 2]), axis=1)


def turned(quat: np.ndarray, lag: int) -> np.ndarray:
    """Rotation vectors (ticks, 3) rad from the attitude `lag` ticks before, in body axes of then; NaN at the start."""
    out = np.full((len(quat), 3), np.nan)
    w0, v0 = quat[:-lag, :1], quat[:-lag, 1:]
    w1, v1 = quat[lag:, :1], quat[lag:, 1:]
    w = w0 * w1 + (v0 * v1).sum(axis=1, keepdims=True)  # conj(before) * now
    v = w0 * v1 - w1 * v0 - np.cross(v0, v1)
    size = np.linalg.norm(v, axis=1, keepdims=True)
    angle = 2 * np.arctan2(size, np.abs(w))
    out[lag:] = np.sign(w) * v * np.where(size > 1e-9, angle / np.maximum(size, 1e-12), 2.0)
    return out


def integrate(omega: np.ndarray, dt: float) -> np.ndarray:
    """Attitude (ticks, 4) from body rates (ticks, 3) rad/s, each the mean of two neighbours over a tick."""
    out, (w, x, y, z) = [(1.0, 0.0, 0.0, 0.0)], (1.0, 0.0, 0.0, 0.0)
    half = 0.25 * dt * (omega[1:] + omega[:-1])
    for a, b, c in half.tolist():  # quaternion times (1, half the turn), normalised: exact to its third power
        w, x, y, z = (
            w - x * a - y * b - z * c,
            x + w * a + y * c - z * b,
            y + w * b + z * a - x * c,
            z + w * c + x * b - y * a,
        )
        n = (w * w + x * x + y * y + z * z) ** -0.5
        w, x, y, z = w * n, x * n, y * n, z * n
        out.append((w, x, y, z))
    return np.array(out)
