"""Where feet are told to land, and the ground they are told to land on."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from procs.controller.footholds import GRAVITY, fit_plane, plan_footholds, plane_height

NOMINAL = np.array([[0.2, -0.1], [0.2, 0.1], [-0.2, -0.1], [-0.2, 0.1]])
STANCE, GAIN, REACH, HEIGHT, RADIUS, DEPTH = 0.15, 0.03, 0.3, 0.3, 0.0175, 0.003
SPEED = st.floats(-0.8, 0.8)


def plan(velocity=(0, 0), wanted=(0, 0), yaw=0.0, yaw_rate=0.0, remaining=0.0, position=(0, 0, 0.3), plane=(0, 0, 0)):
    return plan_footholds(
        np.array(position, dtype=float), yaw, np.array([*velocity, 0.0]), np.array(wanted, dtype=float), yaw_rate,
        NOMINAL, np.full(4, float(remaining)), STANCE, GAIN, REACH, HEIGHT, np.array(plane, dtype=float), RADIUS, DEPTH,
    )  # fmt: skip


def test_at_rest_the_feet_land_where_they_stand_left_and_right_alike():
    ends = plan()
    np.testing.assert_allclose(ends[:, :2], NOMINAL, atol=1e-12)
    np.testing.assert_allclose(ends[0::2] * [1, -1, 1], ends[1::2], atol=1e-12)
    np.testing.assert_allclose(ends[:, 2], RADIUS - DEPTH, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(SPEED, SPEED, SPEED, SPEED, st.floats(0.0, 0.15))
def test_each_foot_is_put_half_a_stance_ahead_plus_the_gain_on_the_speed_error(vx, vy, wx, wy, remaining):
    ends = plan((vx, vy), (wx, wy), remaining=remaining)
    step = np.array([0.5 * STANCE * vx + GAIN * (vx - wx), 0.5 * STANCE * vy + GAIN * (vy - wy)])
    expected = NOMINAL + np.array([wx, wy]) * remaining + step
    np.testing.assert_allclose(ends[:, :2], expected, atol=1e-12)


@settings(max_examples=50, deadline=None)
@given(SPEED, SPEED, st.floats(-3, 3))
def test_turning_the_whole_problem_turns_the_footholds(vx, vy, yaw):
    turn = np.array([[math.cos(yaw), -math.sin(yaw)], [math.sin(yaw), math.cos(yaw)]])
    v = turn @ (vx, vy)
    np.testing.assert_allclose(plan(v, v, yaw)[:, :2], plan((vx, vy), (vx, vy))[:, :2] @ turn.T, atol=1e-12)


def test_a_turn_on_the_spot_is_led_by_half_a_stance_and_has_no_step():
    ends = plan(yaw_rate=1.0, remaining=0.1)
    angle = 0.1 + 0.5 * STANCE
    turn = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]])
    np.testing.assert_allclose(ends[:, :2], NOMINAL @ turn.T, atol=1e-12)


def test_in_a_curve_the_feet_go_to_the_outside():
    straight, left = plan((1, 0), (1, 0)), plan((1, 0), (1, 0), yaw_rate=1e-9)
    np.testing.assert_allclose(straight, left, atol=1e-6)
    rate = 0.5
    shift = plan((1, 0), (1, 0), yaw_rate=rate)[:, :2].mean(axis=0) - straight[:, :2].mean(axis=0)
    assert shift[1] == pytest.approx(-0.5 * HEIGHT / GRAVITY * rate, abs=1e-9)


def test_no_foot_is_sent_beyond_its_reach():
    ends = plan((8, 6), (0, 0))
    assert np.hypot(*(ends[:, :2] - NOMINAL).T) == pytest.approx(REACH)


def test_feet_land_on_the_estimated_plane():
    plane = (0.05, 0.2, -0.1)
    ends = plan((0.5, 0.2), (0.5, 0.2), plane=plane)
    for end in ends:
        assert end[2] == pytest.approx(0.05 + 0.2 * end[0] - 0.1 * end[1] + RADIUS - DEPTH)


@settings(max_examples=50, deadline=None)
@given(st.floats(-1, 1), st.floats(-0.5, 0.5), st.floats(-0.5, 0.5), st.floats(-50, 50))
def test_a_plane_through_points_of_a_plane_is_found_wherever_it_is(z0, dx, dy, away):
    points = np.column_stack((NOMINAL + away, np.zeros(4)))
    points[:, 2] = z0 + dx * points[:, 0] + dy * points[:, 1]
    np.testing.assert_allclose(fit_plane(points), (z0, dx, dy), atol=1e-8 * max(1.0, abs(away)))


def test_feet_in_one_line_or_point_give_a_level_plane():
    line = np.array([[0.1 * k, 0.0, 0.02] for k in range(4)])
    for points in (line, np.ones((4, 3))):
        plane = fit_plane(points)
        assert np.isfinite(plane).all()
        assert plane_height(plane, 0.0, 0.0) == pytest.approx(points[0, 2])
