"""The state: what is fresh, what is stale, what is drawn."""

from __future__ import annotations

import numpy as np
import pytest

from config.load import load_robot, robot_names
from lcmtypes.channels import (
    BODY_STATE,
    CONTACT_PLAN,
    GROUND_TRUTH,
    JOINT_STATE,
    LEG_STATE,
    MODE_STATE,
    MPC_DEBUG,
    PROC_HEALTH,
)
from lcmtypes.generated import ContactPlan, GroundTruth, JointState, MpcDebug
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix, rpy_to_quat
from tools.dashboard.model import FOOT, Model
from tools.dashboard.state import HISTORY, SILENT, STALE, State, feet_in_body


def test_nothing_is_shown_as_live_before_anything_is_heard(robot):
    state = State(robot)
    assert state.connection(5.0).kind == "none"
    assert state.pose(5.0) is None
    assert state.mode(5.0) is None


def test_data_and_mode_go_stale_when_nothing_new_comes(robot, made):
    state = State(robot)
    made.fill(state, 1.0)
    assert state.connection(1.1).kind == "live"
    assert not state.pose(1.1).stale
    assert state.mode(1.1).mode == "stand"
    late = 1.0 + STALE
    assert state.connection(late).kind == "stale"
    assert state.connection(3.0).age == pytest.approx(2.0)
    assert state.pose(late).stale
    assert state.mode(late) is None


def test_a_plant_that_repeats_itself_is_not_live(robot, made):
    state, message = State(robot), made.joints()
    for now in (1.0, 1.3, 1.6, 1.9):
        state.put(JOINT_STATE, message, now)
    assert state.connection(1.9).kind == "stale"


def test_a_dead_estimator_makes_the_drawn_robot_stale_though_the_plant_lives(robot, made):
    state = State(robot)
    made.fill(state, 1.0)
    state.put(JOINT_STATE, made.joints(), 2.0)
    assert state.connection(2.0).kind == "live"
    assert state.pose(2.0).stale


def test_messages_of_another_robot_are_not_drawn_with_these_legs(robot, made):
    state, other = State(robot), JointState(18)
    other.seq = 1
    state.put(JOINT_STATE, other, 1.0)
    assert state.pose(1.0) is None


def test_without_an_estimator_the_joints_are_drawn_at_nominal_height(robot, made):
    state = State(robot)
    state.put(JOINT_STATE, made.joints(), 1.0)
    pose = state.pose(1.0)
    assert pose.position[2] == robot.description.control.nominal_height
    np.testing.assert_array_equal(pose.q, robot.pose("stand"))


def test_contacts_compare_plan_and_feeling(robot, made):
    state, plan = State(robot), ContactPlan(4)
    made.fill(state, 1.0, mode="walk")
    plan.seq, plan.stance[:] = 9, (1, 1, 0, 0)
    state.put(CONTACT_PLAN, plan, 1.0)
    state.put(BODY_STATE, made.body(contact=(0.9, 0.1, 0.9, 0.1)), 1.0)
    assert state.contacts(1.0) == ["stance", "planned", "felt", "swing"]
    assert state.contacts(9.0) == ["unknown"] * 4
    state.put(MODE_STATE, made.mode(mode="damping"), 1.0)  # there nothing is planned: only what is felt counts
    assert state.contacts(1.0) == ["stance", "swing", "stance", "swing"]


def test_estimated_forces_turn_with_the_body_and_true_ones_replace_them(robot, made):
    state = State(robot)
    quat = rpy_to_quat(np.array([0.0, 0.0, np.pi / 2]))
    state.put(JOINT_STATE, made.joints(), 1.0)
    state.put(BODY_STATE, made.body(quat=quat), 1.0)
    state.put(LEG_STATE, made.legs(q=robot.pose("stand"), foot_force=(10.0, 0.0, 5.0)), 1.0)
    points, forces = state.forces(1.0, state.pose(1.0))
    np.testing.assert_allclose(forces, np.tile((0.0, 10.0, 5.0), (4, 1)), atol=1e-12)
    np.testing.assert_allclose(points, state.feet(state.pose(1.0)))
    truth = GroundTruth(4, 12)
    truth.seq, truth.foot_force[:], truth.foot_position[:] = 3, (0, 0, 7.0), (1.0, 2.0, 0.0)
    state.put(GROUND_TRUTH, truth, 1.0)
    points, forces = state.forces(1.0, state.pose(1.0))
    np.testing.assert_array_equal(forces, np.tile((0, 0, 7.0), (4, 1)))
    np.testing.assert_array_equal(points, np.tile((1.0, 2.0, 0.0), (4, 1)))


def test_prediction_is_shown_only_while_it_walks(robot, made):
    state, debug = State(robot), MpcDebug(10, 4)
    made.fill(state, 1.0, mode="walk")
    debug.seq = 1
    state.put(MPC_DEBUG, debug, 1.0)
    assert state.prediction(1.0) is not None
    state.put(MODE_STATE, made.mode(mode="stand"), 1.0)
    assert state.prediction(1.0) is None


def test_history_keeps_the_last_seconds_and_leaves_gaps_for_what_is_stale(robot, made):
    state = State(robot)
    made.fill(state, 1.0)
    state.remember(1.1)
    state.remember(1.1 + STALE)
    first, second = state.history
    assert JOINT_STATE in first.messages and not second.messages
    state.remember(1.2 + HISTORY)
    assert len(state.history) == 2


def test_rates_come_from_two_reports_and_a_silent_process_is_told(robot, made):
    state = State(robot)
    for k in range(2):
        health = made.health(ticks=500 * k)
        health.utime = 1_000_000 * k
        state.put(PROC_HEALTH, health, float(k))
    assert state.rates["controller"] == pytest.approx(500.0)
    assert state.silent("controller", 1.0 + SILENT) == 0.0
    assert state.silent("controller", 1.1 + SILENT) > SILENT


@pytest.mark.parametrize("name", robot_names())
def test_the_drawn_links_end_where_the_kinematics_has_the_feet(name):
    robot = Robot(load_robot(name))
    model = Model(robot.description)
    assert model.joint_names == robot.joint_names
    q = np.random.default_rng(1).uniform(-1, 1, robot.num_joints)
    placed, feet = {"body": (np.zeros(3), np.eye(3))}, []
    for link, quat in zip(model.links, model.quats(q), strict=True):
        at, R = placed[link.parent]
        at, R = at + R @ link.position, R @ quat_to_matrix(quat)
        placed[link.name] = at, R
        feet += [at + R @ s.position for s in link.shapes if s.material == FOOT]
    np.testing.assert_allclose(feet, feet_in_body(robot, q), atol=1e-12)


def test_limits_are_told_joint_by_joint(robot):
    model = Model(robot.description)
    q = np.array(robot.pose("stand"))
    assert not any(model.limit_violations(q))
    q[5] = robot.q_upper[5]
    q[6] = robot.q_lower[6] - 0.1
    assert [i for i, bad in enumerate(model.limit_violations(q)) if bad] == [5, 6]
