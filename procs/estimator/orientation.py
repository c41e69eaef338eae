"""Attitude of the body: the IMU's own quaternion, or gyro and accelerometer fused here. Yaw starts at 0 in each run."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from procs.model.rotations import quat_multiply, quat_to_rpy, rotvec_to_quat, rpy_to_quat

GRAVITY = 9.81  # m/s^2
ACCEL_BAND = 0.1  # fraction of g by which |accel| may be off before it says nothing about the vertical
BIAS_MAX = 0.2  # rad/s, far beyond any gyro's bias


class Attitude(NamedTuple):
    """Memory of the attitude."""

    quat: np.ndarray  # (4,) body to world
    turn: np.ndarray  # (4,) rotation about z that zeroes the first yaw
    bias: np.ndarray  # (3,) gyro bias, rad/s, body axes
    started: np.ndarray  # (1,) 1 after the first sample


def new_attitude() -> Attitude:
    """Level, not started."""
    unit = np.array([1.0, 0.0, 0.0, 0.0])
    return Attitude(unit.copy(), unit.copy(), np.zeros(3), np.zeros(1))


@njit(cache=True)
def _store(quat: np.ndarray, out: np.ndarray) -> None:
    norm = math.sqrt(quat[0] ** 2 + quat[1] ** 2 + quat[2] ** 2 + quat[3] ** 2)
    for i in range(4):
        out[i] = quat[i] / norm


@njit(cache=True)
def follow_imu(attitude: Attitude, quat: np.ndarray) -> None:
    """Take the IMU's quaternion, turned so that the first one has no yaw (OrientationEstimator.cpp of MIT)."""
    if attitude.started[0] == 0.0:
        yaw = quat_to_rpy(quat)[2]
        attitude.turn[0], attitude.turn[3] = math.cos(yaw / 2), -math.sin(yaw / 2)
        attitude.started[0] = 1.0
    _store(quat_multiply(attitude.turn, quat), attitude.quat)


@njit(cache=True)
def fuse(attitude: Attitude, gyro: np.ndarray, accel: np.ndarray, dt: float, gain: float, bias_gain: float) -> None:
    """Complementary filter with gyro bias (Mahony et al. 2008); gyro rad/s, accel m/s^2, body axes; gains 1/s, 1/s^2.

    The accelerometer is believed only while its norm is near g. The bias about the vertical cannot be seen by it.
    """
    norm = math.sqrt(accel[0] ** 2 + accel[1] ** 2 + accel[2] ** 2)
    if attitude.started[0] == 0.0:
        if norm < 0.5 * GRAVITY:
            return
        rpy = np.array([math.atan2(accel[1], accel[2]), math.atan2(-accel[0], math.hypot(accel[1], accel[2])), 0.0])
        _store(rpy_to_quat(rpy), attitude.quat)
        attitude.started[0] = 1.0
        return
    w, x, y, z = attitude.quat
    up = np.array([2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)])  # world z in body axes
    belief = max(0.0, 1.0 - abs(norm / GRAVITY - 1.0) / ACCEL_BAND)
    turn = np.empty(3)
    for i in range(3):
        j, k = (i + 1) % 3, (i + 2) % 3
        error = belief * (accel[j] * up[k] - accel[k] * up[j]) / max(norm, 1e-9)  # accel x up: how far `up` is off
        attitude.bias[i] = min(BIAS_MAX, max(-BIAS_MAX, attitude.bias[i] - bias_gain * error * dt))
        turn[i] = (gyro[i] - attitude.bias[i] + gain * error) * dt
    _store(quat_multiply(attitude.quat, rotvec_to_quat(turn)), attitude.quat)


@njit(cache=True)
def coast(attitude: Attitude, omega: np.ndarray, dt: float) -> None:
    """Turn on at omega (3,) rad/s, body axes, for dt s: a sample is missing."""
    if attitude.started[0] != 0.0:
        _store(quat_multiply(attitude.quat, rotvec_to_quat(omega * dt)), attitude.quat)
