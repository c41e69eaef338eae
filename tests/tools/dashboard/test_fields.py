"""Fields by path, and the table of charts."""

from __future__ import annotations

import math

import numpy as np
import pytest

from config.load import load_robot, robot_names
from lcmtypes.channels import BODY_STATE, GROUND_TRUTH, LEG_STATE
from lcmtypes.generated import GroundTruth, LegState
from procs.model.robot import Robot
from procs.model.rotations import rpy_to_quat
from tools.dashboard.fields import FieldError, charts, field, own_chart


def test_a_path_reads_one_number(robot):
    legs = LegState(4, 12)
    legs.q[3], legs.foot_force[2, 1] = 0.7, 5.0
    assert field("leg_state.q[3]").value({LEG_STATE: legs}) == 0.7
    assert field(" leg_state.foot_force[2][1] ").value({LEG_STATE: legs}) == 5.0


def test_what_is_not_there_is_a_gap(robot):
    legs = LegState(4, 12)
    assert math.isnan(field("leg_state.q[12]").value({LEG_STATE: legs}))
    assert math.isnan(field("leg_state.q").value({LEG_STATE: legs}))
    assert math.isnan(field("leg_state.q[0]").value({}))


@pytest.mark.parametrize(
    ("path", "advice"),
    [
        ("leg_state", "is no path"),
        ("leg_state.q[-1]", "is no path"),
        ("leg_stat.q[0]", "no channel 'leg_stat'"),
        ("leg_state.speed", "there are q, qd, tau"),
        ("body_state.speed", "v_heading"),
    ],
)
def test_a_wrong_path_says_what_is_wrong(path, advice):
    with pytest.raises(FieldError, match=advice):
        field(path)


def test_heading_velocity_is_the_worlds_turned_by_yaw():
    truth = GroundTruth(4, 12)
    truth.quat[:] = rpy_to_quat(np.array([0.2, -0.1, np.pi / 2]))
    truth.v_world[:] = (0.0, 2.0, 0.0)  # north, and it looks north
    assert field("ground_truth.v_heading[0]").value({GROUND_TRUTH: truth}) == pytest.approx(2.0)
    assert field("ground_truth.v_heading[1]").value({GROUND_TRUTH: truth}) == pytest.approx(0.0)
    assert field("ground_truth.rpy[2]").value({GROUND_TRUTH: truth}) == pytest.approx(np.pi / 2)


@pytest.mark.parametrize("name", robot_names())
def test_every_robot_has_charts_of_body_legs_and_joints(name):
    robot = Robot(load_robot(name))
    table = charts(robot)
    for what in ("speed forward", f"{robot.leg_names[-1]} force up", f"{robot.joint_names[-1]} torque"):
        assert what in table
    last = table[f"{robot.joint_names[-1]} angle"].lines[1].field
    assert last.path == f"joint_state.q[{robot.num_joints - 1}]"


def test_own_fields_are_split_at_commas():
    assert [line.label for line in own_chart("leg_state.q[0], imu.gyro[2],").lines] == ["leg_state.q[0]", "imu.gyro[2]"]
    with pytest.raises(FieldError, match="write one or more"):
        own_chart(" , ")


def test_no_curve_that_is_drawn_begins_with_a_gap():
    from tools.dashboard.plots import drawable
    from tools.dashboard.state import HISTORY

    gap = np.nan
    t, a, b, c = drawable(
        (np.array([-2.0, -1.0, 0.0]), np.array([gap, 3.0, gap]), np.array([1.0, gap, 2.0]), np.full(3, gap))
    )
    assert t[0] == -HISTORY and len(t) == 5
    assert [a[0], b[0], c[0]] == [3.0, 1.0, 3.0]
    np.testing.assert_array_equal(a[1:], [gap, gap, 3.0, gap])
    assert [len(v) for v in drawable((np.zeros(0), np.zeros(0)))] == [2, 2]


def test_curves_read_only_what_is_new_and_forget_what_is_old(robot, made):
    from tools.dashboard.plots import Curves
    from tools.dashboard.state import HISTORY, State

    state, curves = State(robot), Curves(own_chart("body_state.position[0], imu.gyro[0]"))
    for k in range(5):
        state.put(BODY_STATE, made.body(position=(0.1 * k, 0, 0.3)), 0.1 * k)
        state.remember(0.1 * k)
        t, x, gyro = curves.extend(state.history, 0.1 * k)
        assert len(t) == len(x) == k + 1
    np.testing.assert_allclose(x, 0.1 * np.arange(5))
    np.testing.assert_allclose(t, 0.1 * np.arange(5) - 0.4)
    assert np.isnan(gyro).all()
    state.history.clear()
    t, x, _ = curves.extend(state.history, 0.25 + HISTORY)
    np.testing.assert_allclose(x, [0.3, 0.4])
