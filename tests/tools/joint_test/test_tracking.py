"""Tracking error by joint and class, from pairs of command and state."""

import pytest

from config.load import load_robot
from lcmtypes.generated import JointCommand, JointState
from procs.model.robot import Robot
from tools.joint_test.tracking import Tracking


@pytest.fixture(scope="module")
def robot():
    return Robot(load_robot("mini_cheetah"))


def play(tracking, joint, errors, kp=10.0, held=10.0, late=1):
    for k, error in enumerate(errors):
        command, state = JointCommand(12), JointState(12)
        command.run = state.run = 1
        command.seq, state.seq = k, k + late
        command.enable[:], command.kp[joint], command.q_des[joint] = 1, held, 0.5
        state.q[joint] = 0.5 - error
        tracking.command(command)
        tracking.state(state, joint, kp)


def test_mean_and_sigma_of_joint_and_class(robot):
    tracking = Tracking(robot)
    play(tracking, 1, [0.1, -0.3])
    play(tracking, 4, [0.2, 0.2])
    joints = tracking.by_joint()
    assert (joints["FR.hip"].mean, joints["FR.hip"].sigma, joints["FR.hip"].most) == pytest.approx((0.2, 0.1, 0.3))
    (hip,) = tracking.by_class().items()
    assert hip[0] == "hip"
    assert (hip[1].mean, hip[1].sigma, hip[1].count) == pytest.approx((0.2, 0.05**0.5 / 10**0.5, 4))


@pytest.mark.parametrize("late", [0, 1, 2])
def test_the_wanted_angle_is_that_of_the_sample_whichever_tick_the_command_is_of(robot, late):
    """A looker that samples the bus may see the command of the same tick: what it asks for comes one tick later."""
    tracking, speed = Tracking(robot), 0.5
    command, state = JointCommand(12), JointState(12)
    command.run = state.run = 1
    command.seq, state.seq = 10, 10 + late
    command.enable[:], command.kp[1], command.q_des[1], command.qd_des[1] = 1, 10.0, 0.3, speed
    state.q[1] = 0.3 + (late - 1) * robot.dt * speed
    tracking.command(command)
    tracking.state(state, 1, 10.0)
    assert tracking.by_joint()["FR.hip"].most == pytest.approx(0.0, abs=1e-12)
    tracking.clear()
    assert tracking.by_joint() == {}


def test_ticks_with_ramping_gains_or_without_their_command_do_not_count(robot):
    tracking = Tracking(robot)
    play(tracking, 1, [0.1] * 5, held=9.0)
    play(tracking, 1, [0.1] * 5, late=5)
    assert tracking.by_joint() == {}
