"""Missing, false and odd inputs: never an exception, never a non-finite number, always a reason, and a way back."""

from __future__ import annotations

import numpy as np
import pytest

from lcmtypes.channels import CONTACT_PLAN, IMU, JOINT_STATE
from lcmtypes.generated import ContactPlan, JointState
from procs.estimator.estimator import Estimator


def standing(world):
    feet = world.stand_feet()
    return feet - [0, 0, feet[:, 2].mean() - world.robot.foot_radius], world.robot.foot_radius - feet[:, 2].mean()


def steps(estimator, world, ticks, begin=0, change=lambda inputs: None, **options):
    feet, height = standing(world)
    for k in range(begin, begin + ticks):
        inputs = world.inputs(k, (0, 0, height), feet, **options)
        change(inputs)
        messages = estimator.step(inputs)
        assert all(m.finite() for m in messages)
    return messages[0]


def no_imu(inputs):
    inputs[IMU] = None


def imu_invalid(inputs):
    inputs[IMU].valid = 0
    inputs[IMU].quat[:] = 0


def imu_nan(inputs):
    inputs[IMU].accel[1] = np.nan


def imu_huge(inputs):
    inputs[IMU].gyro[2] = 1e300


@pytest.mark.parametrize("change", [no_imu, imu_invalid, imu_nan, imu_huge])
def test_a_lost_imu_is_said_and_comes_back(estimator, world, change):
    body = steps(estimator, world, 50, change=change)
    assert not body.valid and body.reason == "no imu sample yet"
    assert steps(estimator, world, 50, 50).valid
    assert steps(estimator, world, 10, 100, change=change).valid, "20 ms are bridged"
    body = steps(estimator, world, 200, 110, change=change)
    assert not body.valid and body.reason.startswith("imu invalid for")
    assert np.abs(body.v_world).max() < 0.01
    body = steps(estimator, world, 50, 310)
    assert body.valid and np.abs(body.v_world).max() < 0.01


def joint_nan(inputs):
    inputs[JOINT_STATE].q[3] = np.nan
    inputs[JOINT_STATE].qd[4] = np.inf
    inputs[JOINT_STATE].tau[5] = -np.inf


def joint_huge(inputs):
    inputs[JOINT_STATE].q[:3] = 1e200
    inputs[JOINT_STATE].tau[:] = 1e300


@pytest.mark.parametrize("change", [joint_nan, joint_huge])
def test_senseless_joints_do_not_spread(estimator, world, change):
    steps(estimator, world, 20, change=change)
    steps(estimator, world, 100, 20)
    steps(estimator, world, 20, 120, change=change)
    body = steps(estimator, world, 200, 140)
    assert body.valid and np.abs(body.v_world).max() < 0.02


def test_a_joint_lost_for_good_is_named(estimator, world):
    def lost(inputs):
        inputs[JOINT_STATE].fault[4] = 2

    body = steps(estimator, world, 20, change=lost)
    assert not body.valid and body.reason == f"joint {world.robot.joint_names[4]} lost"


def test_a_leg_with_predicted_joints_says_little(robot, make_world):
    def jump(fault):
        def change(inputs):
            inputs[JOINT_STATE].qd[:3] += 1.0
            inputs[JOINT_STATE].fault[1] = fault

        estimator, world = Estimator(robot), make_world(robot)
        steps(estimator, world, 100)
        return np.abs(steps(estimator, world, 10, 100, change=change).v_world).max()

    assert jump(1) < 0.2 * jump(0)


def test_messages_of_another_robot_are_named(estimator, world):
    def other(inputs):
        inputs[JOINT_STATE] = JointState(18)
        inputs[CONTACT_PLAN] = ContactPlan(6)

    body = steps(estimator, world, 3, change=other)
    assert not body.valid and "18 joints" in body.reason


def test_a_filter_that_is_not_finite_starts_again(estimator, world):
    steps(estimator, world, 50)
    estimator._filter.x[0, 1] = np.nan
    body = steps(estimator, world, 1, 50)
    assert not body.valid and "not finite" in body.reason
    assert steps(estimator, world, 20, 51).valid


@pytest.mark.parametrize("planned", [None, np.ones(4)])
@pytest.mark.parametrize("orientation", ["imu", "complementary"])
def test_a_hung_robot_is_said_and_does_not_run_away(changed, make_world, planned, orientation):
    estimator = changed(estimator={"orientation": orientation})
    world, rng = make_world(estimator.robot), np.random.default_rng(3)

    def noise(inputs):
        inputs[IMU].accel[:] += [0.02, -0.02, 0.02] + rng.uniform(-0.005, 0.005, 3)
        inputs[IMU].gyro[:] += 0.002

    fastest = 0.0
    for begin in range(0, 10_000, 500):
        body = steps(estimator, world, 500, begin, change=noise, loaded=np.zeros(4), planned=planned)
        assert not body.valid and body.reason == "suspended: no foot carries load"
        assert (body.contact < 0.5).all()
        fastest = max(fastest, np.abs(body.v_world).max())
    assert fastest < 0.3
    body = steps(estimator, world, 100, 10_000, planned=planned)
    assert body.valid and np.abs(body.v_world).max() < 0.1
