"""Which robots MIT's messages can hold, and how their joints are ordered and signed."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.load import load_robot
from config.problems import ConfigError
from procs.mit_relay.layout import Layout
from procs.model.legs import leg_kinematics
from procs.model.robot import Robot


def test_mini_cheetah_has_mits_order_and_signs(robot):
    layout = Layout(robot)
    assert layout.joints.tolist() == list(range(12))
    assert layout.legs.tolist() == [0, 1, 2, 3]
    assert (layout.signs == 1).all()


def test_scottys_hips_and_knees_turn_the_other_way():
    layout = Layout(Robot(load_robot("scotty")))
    assert layout.signs.reshape(4, 3).tolist() == [[1, -1, -1]] * 4


def test_the_order_of_the_legs_is_found_by_where_they_stand(changed_legs):
    robot = changed_legs(order=(3, 0, 2, 1))  # RL FR RR FL
    layout = Layout(robot)
    assert [robot.leg_names[k] for k in layout.legs] == ["FR", "FL", "RR", "RL"]
    assert layout.joints[:3].tolist() == [3, 4, 5]


@settings(deadline=None)
@given(q=st.lists(st.floats(-2, 2), min_size=12, max_size=12))
def test_kinematics_with_turned_axes_and_mixed_order_are_mits_on_the_relayed_joints(mit_foot, changed_legs, q):
    robot = changed_legs(order=(2, 3, 1, 0), axes=[[-1, 0, 0], [0, 1, 0], [0, -1, 0]])
    layout = Layout(robot)
    p = leg_kinematics(np.array(q), robot.chains)[0][layout.legs]
    relayed = layout.to_mit(np.array(q)).reshape(4, 3)
    for leg in range(4):
        np.testing.assert_allclose(p[leg], mit_foot(relayed[leg], leg)[0], atol=1e-12)


@settings(deadline=None)
@given(q=st.lists(st.floats(-10, 10), min_size=12, max_size=12))
def test_the_way_back_is_the_inverse(changed_legs, q):
    layout = Layout(changed_legs(order=(1, 3, 0, 2), axes=[[1, 0, 0], [0, 1, 0], [0, 1, 0]]))
    assert layout.from_mit(layout.to_mit(np.array(q))).tolist() == q


def test_a_hexapod_is_refused():
    with pytest.raises(ConfigError, match=r"legs\.placed: 6: MIT's messages hold 4 legs"):
        Layout(Robot(load_robot("tocatl")))


def test_another_chain_is_refused_joint_by_joint(changed_legs):
    with pytest.raises(ConfigError) as error:
        Layout(changed_legs(axes=[[0, 0, 1], [0, -1, 0], [0, -1, 0]]))
    assert str(error.value).count("turns about x") == 4
    assert "FR.abad" in str(error.value)


def test_a_leg_that_leans_at_zero_is_refused(changed_legs):
    with pytest.raises(ConfigError, match=r"FR shank: leans 0\.46 rad"):
        Layout(changed_legs(foot=(0.1, 0.0, -0.2)))


def test_two_legs_in_one_quarter_are_refused(robot, changed_legs):
    legs = robot.description.legs
    with pytest.raises(ConfigError, match="0 legs: MIT has one leg, HL"):
        Layout(changed_legs(placed=[legs.placed[k] for k in (0, 1, 2, 2)]))
