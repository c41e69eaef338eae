"""Swing trajectories, the targets made of them, and their feed-forward torques."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from procs.controller.swing import leg_targets, swing_point, swing_torques
from procs.model.legs import foot_velocities, leg_kinematics
from procs.model.rotations import rpy_to_matrix

POINT = st.tuples(st.floats(-0.3, 0.3), st.floats(-0.3, 0.3), st.floats(-0.1, 0.1)).map(np.array)
HEIGHT, TIME = st.floats(0.02, 0.15), st.floats(0.08, 0.75)


@settings(max_examples=100, deadline=None)
@given(POINT, POINT, HEIGHT, TIME)
def test_a_swing_starts_and_ends_at_rest_at_its_ends(start, end, height, time):
    for s, at in ((0.0, start), (1.0, end)):
        position, velocity, acceleration = swing_point(start, end, height, s, time)
        np.testing.assert_allclose(position, at, atol=1e-12)
        np.testing.assert_allclose(velocity, 0.0, atol=1e-9)
        assert np.isfinite(acceleration).all()


@settings(max_examples=100, deadline=None)
@given(POINT, POINT, HEIGHT, TIME, st.floats(0.001, 0.999))
def test_velocity_and_acceleration_are_the_derivatives(start, end, height, time, s):
    h = 1e-6
    if abs(s - 0.5) < 2 * h:
        return  # the acceleration jumps at the top
    before, here, after = (swing_point(start, end, height, x, time) for x in (s - h, s, s + h))
    np.testing.assert_allclose(here[1], (after[0] - before[0]) / (2 * h * time), atol=1e-5)
    np.testing.assert_allclose(here[2], (after[1] - before[1]) / (2 * h * time), atol=1e-3 * max(1, 1 / time**2))


@settings(max_examples=50, deadline=None)
@given(POINT, POINT, HEIGHT, TIME)
def test_position_and_velocity_are_continuous_at_the_top(start, end, height, time):
    a, b = (swing_point(start, end, height, s, time) for s in (0.5 - 1e-9, 0.5 + 1e-9))
    np.testing.assert_allclose(a[:2], b[:2], atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(POINT, POINT, HEIGHT)
def test_the_foot_clears_the_higher_end_and_never_dips_below_the_line_of_its_lower_one(start, end, height):
    z = np.array([swing_point(start, end, height, s, 0.2)[0, 2] for s in np.linspace(0, 1, 101)])
    assert z.max() == pytest.approx(max(start[2], end[2]) + height, abs=1e-6)
    assert z.min() >= min(start[2], end[2]) - 1e-9


def targets(robot, stance, progress, R, position, velocity, omega, start, end, foot, wanted=(0, 0, 0), turn=(0, 0, 0)):
    return leg_targets(
        np.asarray(stance, np.int8), np.full(robot.num_legs, progress), np.full(robot.num_legs, 0.15), start, end, 0.06,
        R, np.asarray(position, float), np.asarray(velocity, float), np.asarray(omega, float),
        robot.chains.mount_position, foot, np.asarray(wanted, float), np.asarray(turn, float),
    )  # fmt: skip


def test_a_swing_seen_from_a_moving_turning_body_is_the_derivative_of_its_position(robot):
    rng = np.random.default_rng(2)
    start, end = rng.uniform(-0.3, 0.3, (2, 4, 3))
    velocity, omega = np.array([0.7, -0.2, 0.1]), np.array([0.4, -0.3, 0.9])
    h = 1e-6

    def at(t):
        """Body turned by omega t (small) from a tilted start, moved by velocity t, swing at phase 0.3 + t / time."""
        R0 = rpy_to_matrix(np.array([0.1, -0.2, 0.5]))
        R = R0 @ rpy_to_matrix(omega * t)
        foot = np.zeros((4, 3))
        return targets(robot, np.zeros(4), 0.3 + t / 0.15, R, velocity * t, velocity, omega, start, end, foot)

    before, here, after = at(-h), at(0.0), at(h)
    np.testing.assert_allclose(here[1], (after[0] - before[0]) / (2 * h), atol=1e-5)


def test_a_standing_foot_stays_where_it_is_and_moves_back_under_the_wanted_motion(robot):
    p, _, _ = leg_kinematics(robot.pose("stand"), robot.chains)
    zero = np.zeros((4, 3))
    wanted, turn = (0.5, -0.1, 0.0), (0.0, 0.0, 0.8)
    p_des, v_des, a_des = targets(
        robot, np.ones(4), 0.5, np.eye(3), (0, 0, 0.3), wanted, turn, zero, zero, p, wanted, turn
    )
    np.testing.assert_array_equal(p_des, p)
    np.testing.assert_allclose(v_des, -np.array(wanted) - np.cross(turn, p + robot.chains.mount_position), atol=1e-12)
    assert not a_des.any()


def test_the_feed_forward_gives_the_joint_accelerations_that_move_the_foot(robot):
    rng = np.random.default_rng(4)
    _, J, _ = leg_kinematics(robot.pose("stand"), robot.chains)
    qdd = rng.uniform(-50, 50, robot.num_joints)
    inertia = robot.joint_inertia(robot.pose("stand"))
    stance = np.array([0, 1, 0, 1], np.int8)
    tau = swing_torques(stance, J, foot_velocities(J, qdd), inertia, 1e-6)
    swinging = np.repeat(stance, 3) == 0
    np.testing.assert_allclose(tau[swinging], (inertia * qdd)[swinging], rtol=1e-3, atol=1e-3)
    assert not tau[~swinging].any()


def test_a_stretched_leg_gives_finite_feed_forward(robot):
    _, J, _ = leg_kinematics(np.zeros(robot.num_joints), robot.chains)
    tau = swing_torques(np.zeros(4, np.int8), J, np.full((4, 3), 100.0), np.full(12, 0.01), 0.02)
    assert np.isfinite(tau).all()
    assert np.abs(tau).max() < 100.0
