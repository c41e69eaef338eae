"""Leg kinematics of chains of three revolute joints with arbitrary axes; all legs in one call.

Positions are those of the foot sphere's centre relative to the leg's first joint, in body axes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from procs.model.rotations import axis_angle


class Chains(NamedTuple):
    """Geometry of all legs. L legs; parents' frames at the zero pose."""

    mount_position: np.ndarray  # (L, 3) first joint in the body frame, m
    mount_rotation: np.ndarray  # (L, 3, 3) leg axes in body axes
    origins: np.ndarray  # (L, 3, 3) origin of joint j in its parent's frame; row 0 is zero
    axes: np.ndarray  # (L, 3, 3) unit axis of joint j
    foot: np.ndarray  # (L, 3) foot centre in the last link's frame


@njit(cache=True)
def _rotate(R: np.ndarray, v: np.ndarray, out: np.ndarray) -> None:
    for i in range(3):
        out[i] = R[i, 0] * v[0] + R[i, 1] * v[1] + R[i, 2] * v[2]


@njit(cache=True)
def _matmul(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    out = np.empty((3, 3))
    for i in range(3):
        for j in range(3):
            out[i, j] = A[i, 0] * B[0, j] + A[i, 1] * B[1, j] + A[i, 2] * B[2, j]
    return out


@njit(cache=True)
def leg_kinematics(q: np.ndarray, chains: Chains) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Foot positions (L, 3) m, Jacobians (L, 3, 3) dp/dq, joint axes (L, 3, 3) in body axes, of q (3 L,) rad."""
    legs = chains.foot.shape[0]
    p = np.empty((legs, 3))
    J = np.empty((legs, 3, 3))
    axes = np.empty((legs, 3, 3))
    joint = np.empty((3, 3))
    step = np.empty(3)
    for leg in range(legs):
        R = chains.mount_rotation[leg].copy()
        at = np.zeros(3)
        for j in range(3):
            _rotate(R, chains.origins[leg, j], step)
            for i in range(3):
                at[i] += step[i]
                joint[j, i] = at[i]
            _rotate(R, chains.axes[leg, j], axes[leg, j])
            R = _matmul(R, axis_angle(chains.axes[leg, j], q[3 * leg + j]))
        _rotate(R, chains.foot[leg], step)
        for i in range(3):
            p[leg, i] = at[i] + step[i]
        for j in range(3):
            a = axes[leg, j]
            r0, r1, r2 = p[leg, 0] - joint[j, 0], p[leg, 1] - joint[j, 1], p[leg, 2] - joint[j, 2]
            J[leg, 0, j] = a[1] * r2 - a[2] * r1
            J[leg, 1, j] = a[2] * r0 - a[0] * r2
            J[leg, 2, j] = a[0] * r1 - a[1] * r0
    return p, J, axes


@njit(cache=True)
def foot_velocities(J: np.ndarray, qd: np.ndarray) -> np.ndarray:
    """Foot velocities (L, 3) m/s relative to the body, body axes, of qd (3 L,)."""
    legs = J.shape[0]
    v = np.empty((legs, 3))
    for leg in range(legs):
        for i in range(3):
            v[leg, i] = J[leg, i, 0] * qd[3 * leg] + J[leg, i, 1] * qd[3 * leg + 1] + J[leg, i, 2] * qd[3 * leg + 2]
    return v


@njit(cache=True)
def joint_torques(J: np.ndarray, force: np.ndarray) -> np.ndarray:
    """Joint torques (3 L,) N m that press the feet with `force` (L, 3) N on the ground, body axes."""
    legs = J.shape[0]
    tau = np.empty(3 * legs)
    for leg in range(legs):
        for j in range(3):
            tau[3 * leg + j] = (
                J[leg, 0, j] * force[leg, 0] + J[leg, 1, j] * force[leg, 1] + J[leg, 2, j] * force[leg, 2]
            )
    return tau


@njit(cache=True)
def solve3(A: np.ndarray, b: np.ndarray, damping: float) -> np.ndarray:
    """x (3,) of (A^T A + damping^2 I) x = A^T b: damped least squares, finite at singular A."""
    M = np.empty((3, 3))
    c = np.empty(3)
    for i in range(3):
        for j in range(3):
            M[i, j] = A[0, i] * A[0, j] + A[1, i] * A[1, j] + A[2, i] * A[2, j]
        M[i, i] += damping * damping
        c[i] = A[0, i] * b[0] + A[1, i] * b[1] + A[2, i] * b[2]
    c00 = M[1, 1] * M[2, 2] - M[1, 2] * M[2, 1]
    c01 = M[1, 2] * M[2, 0] - M[1, 0] * M[2, 2]
    c02 = M[1, 0] * M[2, 1] - M[1, 1] * M[2, 0]
    det = M[0, 0] * c00 + M[0, 1] * c01 + M[0, 2] * c02
    x = np.empty(3)
    x[0] = (c00 * c[0] + c01 * c[1] + c02 * c[2]) / det
    c11 = M[0, 0] * M[2, 2] - M[0, 2] * M[2, 0]
    c12 = M[0, 1] * M[2, 0] - M[0, 0] * M[2, 1]
    c22 = M[0, 0] * M[1, 1] - M[0, 1] * M[1, 0]
    x[1] = (c01 * c[0] + c11 * c[1] + c12 * c[2]) / det
    x[2] = (c02 * c[0] + c12 * c[1] + c22 * c[2]) / det
    return x


def inverse_kinematics(
    target: np.ndarray, guess: np.ndarray, chains: Chains, lower: np.ndarray, upper: np.ndarray
) -> tuple[np.ndarray, float]:
    """Joint angles (3 L,) reaching foot positions (L, 3), from `guess`, and the largest error left, m.

    Levenberg-Marquardt steps on the exact Jacobian, clipped to the joint limits; an unreachable target gives the
    nearest pose found and its error, never NaN.
    """
    q = np.array(guess, dtype=float)
    error = np.inf
    for _ in range(100):
        p, J, _axes = leg_kinematics(q, chains)
        e = target - p
        error = float(np.abs(e).max())
        if error < 1e-11:
            break
        for leg in range(len(target)):
            step = solve3(J[leg], e[leg], 1e-3)
            q[3 * leg : 3 * leg + 3] += np.clip(step, -0.3, 0.3)
        q = np.clip(q, lower, upper)
    return q, error
