"""IMU and encoder models."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_robot
from procs.model.robot import Robot
from procs.model.rotations import quat_multiply, quat_to_matrix, rotvec_to_quat
from sim.sensors import Encoders, ImuModel, quantise

G = np.array([0.0, 0.0, 9.81])
ONE = np.array([1.0, 0.0, 0.0, 0.0])


def model(robot, seed=1, noisy=False):
    return ImuModel(robot, np.random.default_rng(seed), noisy)


def test_perfect_imu_at_rest_reads_gravity_in_body_axes(robot, rng):
    quat = rotvec_to_quat(rng.normal(size=3))
    imu = model(robot)
    for _ in range(3):
        got = imu.sample(quat, np.zeros(3), np.zeros(3))
        np.testing.assert_allclose(got.accel, quat_to_matrix(quat).T @ G, atol=1e-12)
        np.testing.assert_array_equal(got.quat, quat)
        np.testing.assert_array_equal(got.gyro, 0.0)
        assert got.valid == 1


def test_gyro_is_in_body_axes(robot, rng):
    quat, omega = rotvec_to_quat(rng.normal(size=3)), rng.normal(size=3)
    got = model(robot).sample(quat, np.zeros(3), omega)
    np.testing.assert_allclose(got.gyro, quat_to_matrix(quat).T @ omega, atol=1e-12)


def test_specific_force_is_the_change_of_velocity_over_the_tick(robot):
    imu = model(robot)
    imu.sample(ONE, np.zeros(3), np.zeros(3))
    got = imu.sample(ONE, np.array([0.002, 0.0, -9.81 * robot.dt]), np.zeros(3))
    np.testing.assert_allclose(got.accel, [0.002 / robot.dt, 0.0, 0.0], atol=1e-12)


def test_imu_away_from_the_origin_feels_the_centripetal_acceleration():
    robot = Robot(load_robot("mini_cheetah", ["imu.mount.xyz=[0.1, 0.0, 0.0]"]))
    imu = model(robot)
    omega = np.array([0.0, 0.0, 3.0])
    quat = ONE
    for _ in range(3):
        got = imu.sample(quat, np.zeros(3), omega)
        quat = quat_multiply(rotvec_to_quat(omega * robot.dt), quat)
    # The mean over the tick belongs to its middle: half a tick's turn off the body axes of its end.
    half = omega[2] * robot.dt / 2
    want = 9.0 * 0.1 * np.array([-np.cos(half), np.sin(half), 0.0]) + G
    np.testing.assert_allclose(got.accel, want, atol=1e-4)
    np.testing.assert_allclose(got.gyro, omega)


def test_noise_stays_within_its_half_width_around_a_constant_bias(robot):
    noise = robot.description.imu.noise
    imu = model(robot, noisy=True)
    samples = [imu.sample(ONE, np.zeros(3), np.zeros(3)) for _ in range(2000)]
    for values, truth, width, bias, most in (
        (np.array([s.gyro for s in samples]), 0.0, noise.gyro, imu.gyro_bias, noise.gyro_bias),
        (np.array([s.accel for s in samples]), G, noise.accel, imu.accel_bias, noise.accel_bias),
    ):
        error = values - truth - bias
        assert np.abs(error).max() <= width + 1e-12 and np.abs(error).max() > 0.9 * width
        assert np.abs(error.mean(0)).max() < 0.1 * width
        assert (np.abs(bias) <= most).all()
    turn = 2 * np.array([s.quat[1:] for s in samples])
    assert np.abs(turn).max() <= noise.attitude + 1e-9 and np.abs(turn).max() > 0.9 * noise.attitude


def test_noise_comes_from_the_seed(robot):
    one, same, other = (model(robot, seed, True).sample(ONE, np.zeros(3), np.zeros(3)) for seed in (1, 1, 2))
    assert one == same and one != other


def test_encoders_round_to_their_quanta_and_a_quantum_of_zero_leaves_the_value():
    value, quantum = np.array([0.1234, -0.1234, 5.0]), np.array([0.01, 0.0, 2.0])
    out = np.empty(3)
    quantise(value, quantum, out)
    np.testing.assert_allclose(out, [0.12, -0.1234, 4.0])


@pytest.mark.parametrize("quantised", [True, False])
def test_encoders_report_positions_within_half_a_quantum(robot, rng, quantised):
    q, qd, tau = (rng.normal(size=robot.num_joints) for _ in range(3))
    got = Encoders(robot, quantised).sample(q, qd, tau)
    for out, value, name in ((got.q, q, "position_quantum"), (got.qd, qd, "velocity_quantum")):
        quantum = robot.per_joint([getattr(a, name) for a in robot.actuators])
        assert (np.abs(out - value) <= quantum / 2 * (1 + 1e-9) if quantised else out == value).all()
    assert not got.fault.any() and not got.age.any() and got.tau_source == "measured"
