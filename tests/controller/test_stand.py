"""Standing: the pose of a commanded height and attitude, and the forces of the weight."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from procs.controller.command import Wanted
from procs.controller.postures import Motion, smoothstep, stand_up
from procs.controller.stand import GRAVITY, JOINT_SPEED, Stand
from procs.model.legs import leg_kinematics
from procs.model.rotations import rpy_to_matrix


def settled(stand, wanted, ticks=400):
    for _ in range(ticks):
        q = stand.pose(wanted)
    return q


@settings(max_examples=25, deadline=None)
@given(st.floats(0.25, 0.32), st.floats(-0.15, 0.15), st.floats(-0.15, 0.15))
def test_the_feet_keep_their_places_while_height_and_attitude_change(robot, height, roll, pitch):
    q = settled(Stand(robot), Wanted(height=height, roll=roll, pitch=pitch))
    p, _, _ = leg_kinematics(q, robot.chains)
    R = rpy_to_matrix(np.array([roll, pitch, 0.0]))
    feet = (p + robot.chains.mount_position) @ R.T
    rest = robot.stand_feet + robot.chains.mount_position
    rest = rest - [0, 0, height - robot.description.control.nominal_height]
    np.testing.assert_allclose(feet, rest, atol=1e-3)


def test_a_step_in_the_command_moves_no_joint_faster_than_its_limit(robot):
    stand = Stand(robot)
    before = stand.q.copy()
    for _ in range(50):
        q = stand.pose(Wanted(height=0.2, roll=0.3))
        assert np.abs(q - before).max() <= JOINT_SPEED * robot.dt + 1e-12
        before = q.copy()


def test_at_rest_the_feet_carry_the_weight_and_no_moment(bench):
    robot = bench.robot
    bench.ask("stand")
    out = bench.until("stand")
    out = bench.tick(0.5)
    force = -out.command.f_ff
    mass, com, _ = robot.composite(bench.q)
    assert force.sum(axis=0) == pytest.approx([0, 0, mass * GRAVITY], rel=0.02, abs=1e-6)
    _, legs = bench.states()
    arms = legs.p + robot.chains.mount_position - com
    assert np.abs(np.cross(arms, force).sum(axis=0)).max() < 0.05


def test_feet_without_load_get_no_force(bench):
    bench.contact = np.array([0, 1, 1, 1])
    bench.ask("stand")
    bench.until("stand")
    out = bench.tick(0.5)
    assert np.abs(out.command.f_ff[0]).max() < 0.01
    assert (out.command.f_ff[1:, 2] < 0).any()


def test_a_motion_is_smooth_from_its_start_to_its_last_pose():
    motion = Motion(np.zeros(2), [(np.ones(2), 0.5), (np.array([2.0, 0.0]), 0.25)], pause=0.1)
    assert motion.total == pytest.approx(0.95)
    q = np.array([motion.at(t) for t in np.linspace(-0.1, 1.2, 651)])
    np.testing.assert_array_equal(q[0], 0.0)
    np.testing.assert_array_equal(q[-1], [2.0, 0.0])
    assert np.abs(np.diff(q, axis=0)).max() < 0.002 * 1.5 / 0.25 * 1.01


def test_a_motion_without_time_is_at_its_goal_at_once():
    assert Motion(np.zeros(1), [(np.ones(1), 0.0)]).at(0.0) == 1.0
    assert [smoothstep(x) for x in (-1, 0, 0.5, 1, 2)] == [0, 0, 0.5, 1, 1]


def test_from_any_pose_standing_up_folds_the_legs_first_and_not_faster_than_the_limit(robot):
    q = robot.pose("down") + np.linspace(-1, 1, robot.num_joints)
    motion = stand_up(robot, q)
    fold = motion.total - robot.description.control.modes.stand_up
    np.testing.assert_allclose(motion.at(fold), robot.pose("down"), atol=1e-6)
    steps = np.diff([motion.at(t) for t in np.arange(0, fold, robot.dt)], axis=0)
    assert np.abs(steps).max() <= JOINT_SPEED * robot.dt * 1.001
