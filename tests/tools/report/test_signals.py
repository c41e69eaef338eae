"""Signals on made-up motions whose values are known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.load import load_robot
from lcmtypes.channels import IMU
from lcmtypes.generated import Imu
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix, quat_to_rpy
from tools.recording import Recording
from tools.report.feet import _since, margin
from tools.report.log import Run, intervals
from tools.report.rotation import heading_frame, integrate, matrices, roll_pitch_yaw, turned
from tools.report.signals import Signals, fill, trailing_sum

ROBOT = Robot(load_robot("mini_cheetah"))
DT = ROBOT.dt
unit = st.lists(st.floats(-1, 1), min_size=4, max_size=4).filter(lambda q: sum(x * x for x in q) > 0.1)


@settings(deadline=None)
@given(st.lists(unit, min_size=1, max_size=5))
def test_rotations_of_a_run_are_those_of_its_ticks(quats):
    q = np.array(quats) / np.linalg.norm(quats, axis=1, keepdims=True)
    R = matrices(q)
    for k in range(len(q)):
        assert R[k] == pytest.approx(quat_to_matrix(q[k]), abs=1e-12)
        if abs(R[k, 2, 0]) < 0.999:  # else roll and yaw are one and the same turn
            away = roll_pitch_yaw(R)[k] - quat_to_rpy(q[k])
            assert np.sin(away / 2) == pytest.approx(np.zeros(3), abs=1e-6)


@pytest.mark.parametrize("rate", [(0.3, 0, 0), (0, -8.0, 0), (1.0, 2.0, -3.0)])
def test_integrated_rates_turn_by_rate_times_time(rate):
    omega = np.tile(np.array(rate), (501, 1))
    attitude = integrate(omega, DT)
    by = turned(attitude, 50)
    assert np.isnan(by[:50]).all()
    assert by[50:] == pytest.approx(np.tile(np.array(rate) * 50 * DT, (451, 1)), abs=2e-4)


def gyro_run(bias: float) -> Run:
    """A body that turns about z at 2 rad/s, whose gyro says `bias` more."""
    recording = Recording()
    for seq in range(1000):
        imu = Imu()
        imu.seq, imu.run, imu.valid = seq, 1, 1
        imu.quat[:] = math.cos(seq * DT), 0, 0, math.sin(seq * DT)
        imu.gyro[2] = 2.0 + bias
        recording.add(IMU, imu)
    return Run.of(recording, ROBOT)


@pytest.mark.parametrize("bias", [0.0, 0.2])
def test_a_gyro_bias_is_measured_against_the_attitude(bias):
    error = Signals(gyro_run(bias)).gyro_error(0.1)
    assert error is not None
    assert error[60:] == pytest.approx(np.full(940, bias), abs=1e-3)


def test_a_log_of_one_sensor_gives_what_it_can():
    s = Signals(gyro_run(0.0))
    assert s.tilt == pytest.approx(np.zeros(1000), abs=1e-6)
    assert s.speed is None and s.height is None and s.unexplained_force is None and s.command_age is None
    assert not s.carrying.any()


def test_the_heading_frame_turns_with_the_yaw():
    v = heading_frame(np.array([[0.0, 1.0, 2.0]]), np.array([math.pi / 2]))
    assert v == pytest.approx(np.array([[1.0, 0.0, 2.0]]))


def test_the_margin_of_a_square_and_of_a_line():
    square = np.array([[[1, 1], [1, -1], [-1, 1], [-1, -1]]], float)
    points = np.array([[0, 0], [0.9, 0], [1.5, 0], [2, 2]], float)
    all_of, line = np.ones((4, 4), bool), np.tile([True, False, False, True], (4, 1))
    corners = np.repeat(square, 4, axis=0)
    assert margin(points, corners, all_of) == pytest.approx([1.0, 0.1, -0.5, -math.sqrt(2)], abs=2e-3)
    assert margin(points, corners, line)[0] == pytest.approx(0.0, abs=2e-3)
    assert np.isnan(margin(points, corners, np.zeros((4, 4), bool))).all()


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), min_size=2, max_size=2), st.lists(st.floats(-1, 1), min_size=8, max_size=8))
def test_a_point_is_inside_exactly_where_the_margin_is_not_negative(point, corners):
    feet = np.array(corners).reshape(1, 4, 2)
    found = margin(np.array([point]), feet, np.ones((1, 4), bool))[0]
    centre = feet[0].mean(axis=0)
    assert margin(centre[None], feet, np.ones((1, 4), bool))[0] >= -1e-9, "the mean of the corners is inside"
    assert found <= np.linalg.norm(feet[0] - point, axis=1).max() + 1e-9


def test_sums_begin_anew_in_each_stretch():
    during = np.array([[0, 1, 1, 0, 1, 1, 1]], bool).T
    assert _since(np.ones((7, 1)), during)[:, 0].tolist() == [0, 1, 2, 0, 1, 2, 3]
    assert list(intervals(during[:, 0])) == [(1, 3), (4, 7)]
    assert trailing_sum(np.arange(5.0), 2).tolist() == [0, 1, 3, 5, 7]
    assert fill(np.array([[np.nan], [1.0], [np.nan], [2.0]]))[:, 0].tolist() == [1, 1, 1, 2]
