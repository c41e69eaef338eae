"""Attitude: following the IMU, and the complementary filter."""

from __future__ import annotations

import numpy as np
import pytest

from procs.estimator.orientation import coast, follow_imu, fuse, new_attitude
from procs.model.rotations import quat_to_rpy, rpy_to_matrix, rpy_to_quat

DT = 0.002
UP = np.array([0, 0, 9.81])


def test_the_first_yaw_is_taken_off_and_tilt_is_kept():
    a = new_attitude()
    follow_imu(a, rpy_to_quat(np.array([0.1, -0.2, 2.5])))
    assert np.allclose(quat_to_rpy(a.quat), [0.1, -0.2, 0.0])
    follow_imu(a, rpy_to_quat(np.array([0.1, -0.2, 2.8])))
    assert np.allclose(quat_to_rpy(a.quat), [0.1, -0.2, 0.3])


def test_the_first_vertical_is_the_accelerometers():
    a = new_attitude()
    R = rpy_to_matrix(np.array([0.3, -0.2, 0.0]))
    fuse(a, np.zeros(3), R.T @ UP, DT, 0.5, 0.05)
    assert np.allclose(quat_to_rpy(a.quat), [0.3, -0.2, 0.0])


def test_a_turn_is_integrated_from_the_gyro():
    a = new_attitude()
    for _ in range(501):
        fuse(a, np.array([0, 0, 1.0]), UP, DT, 0.5, 0.05)
    assert np.allclose(quat_to_rpy(a.quat), [0, 0, 1.0], atol=1e-9)


def test_gyro_bias_is_learned_and_does_not_tilt():
    a, bias = new_attitude(), np.array([0.02, -0.01, 0.0])
    for _ in range(60_000):
        fuse(a, bias, UP, DT, 0.5, 0.05)
    assert np.allclose(a.bias, bias, atol=1e-3)
    assert np.abs(quat_to_rpy(a.quat)[:2]).max() < 0.002


def test_an_acceleration_is_not_taken_for_the_vertical():
    a = new_attitude()
    fuse(a, np.zeros(3), UP, DT, 0.5, 0.05)
    for _ in range(500):
        fuse(a, np.zeros(3), UP + [8.0, 0, 0], DT, 0.5, 0.05)
    assert np.abs(quat_to_rpy(a.quat)).max() < 1e-9


@pytest.mark.parametrize("started", [False, True])
def test_a_missing_sample_is_bridged_by_the_last_rotation(started):
    a = new_attitude()
    if started:
        follow_imu(a, rpy_to_quat(np.zeros(3)))
    for _ in range(10):
        coast(a, np.array([0, 0, 1.0]), DT)
    assert quat_to_rpy(a.quat)[2] == pytest.approx(0.02 if started else 0.0)
