"""One joint in a rig: low gains first, a torque limit, and a hand that must stay on the button."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lcmtypes.generated import JointTest as Message
from lcmtypes.generated import LegState
from procs.controller.joint_test import EXPIRES, RAMP, JointTest


@pytest.fixture
def rig(robot):
    core, legs = JointTest(robot), LegState(robot.num_legs, robot.num_joints)
    legs.q[:] = robot.pose("stand")
    message = Message()
    message.joint, message.hold, message.kp, message.kd, message.tau_limit = 4, 1, 30.0, 1.0, 5.0
    message.q_des = legs.q[4] + 0.1

    def play(seconds, fresh=True, **fields):
        for name, value in fields.items():
            setattr(message, name, value)
        for _ in range(round(seconds / robot.dt)):
            message.seq += fresh
            out = core.step(message.copy(), legs)
        return out

    play.core, play.legs, play.message = core, legs, message
    return play


def test_the_gains_of_one_joint_rise_from_damping_and_all_others_are_damped(rig, robot):
    first = rig(robot.dt)
    assert 0 < first.kp_joint[4] < 0.02 * 30
    full = rig(RAMP)
    assert (full.kp_joint[4], full.kd_joint[4]) == (30.0, 1.0)
    others = np.arange(robot.num_joints) != 4
    assert not full.kp_joint[others].any()
    assert (full.kd_joint[others] == robot.per_joint(robot.description.control.damping)[others]).all()
    assert full.enable


def test_a_page_that_hangs_lets_go_after_its_time(rig, robot):
    rig(1.0)
    assert rig(EXPIRES - 0.02, fresh=False).kp_joint[4] == 30.0
    assert rig(0.04, fresh=False).kp_joint[4] == 0.0
    assert rig(robot.dt).kp_joint[4] < 0.6, "it begins from low gains again"


def test_letting_go_and_taking_another_joint_start_again_from_low_gains(rig, robot):
    rig(1.0)
    assert not rig(robot.dt, hold=0).kp_joint.any()
    rig(1.0, hold=1)
    out = rig(robot.dt, joint=5)
    assert out.kp_joint[4] == 0.0
    assert 0.0 < out.kp_joint[5] < 0.6


def test_the_message_that_was_there_before_the_mode_does_not_count(rig, robot):
    rig.core.start(rig.message.copy())
    assert not rig(0.2, fresh=False).kp_joint.any()
    assert rig(robot.dt).kp_joint[4] > 0


def test_two_pages_with_equal_counters_are_both_seen(rig, robot):
    for k in range(300):
        out = rig(robot.dt, fresh=False, source="ab"[k % 2])
    assert out.kp_joint[4] == 30.0


NUMBER = st.floats(allow_nan=True)


@settings(max_examples=100, deadline=None)
@given(st.integers(-2, 20), NUMBER, NUMBER, NUMBER, NUMBER, st.floats(0, 100), st.floats(-20, 20))
def test_the_torque_limit_holds_whatever_is_asked(robot, joint, q_des, qd_des, kp, kd, limit, qd):
    core, legs = JointTest(robot), LegState(robot.num_legs, robot.num_joints)
    legs.qd[:] = qd
    message = Message()
    message.joint, message.hold, message.tau_limit = joint, 1, limit
    message.q_des, message.qd_des, message.kp, message.kd = q_des, qd_des, kp, kd
    with np.errstate(all="ignore"):
        for message.seq in range(1, 300):
            out = core.step(message, legs)
    assert out.finite()
    torque = out.kp_joint * (out.q_des - legs.q) + out.kd_joint * (out.qd_des - legs.qd)
    held = 0 <= joint < robot.num_joints and all(map(math.isfinite, (q_des, qd_des, kp, kd)))
    if held:
        assert abs(torque[joint]) <= min(limit, robot.tau_max[joint]) * (1 + 1e-9) + 1e-12
