"""Leg kinematics against published figures, numeric derivatives and each other."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.load import load_robot
from procs.model.legs import foot_velocities, inverse_kinematics, joint_torques, leg_kinematics, solve3
from procs.model.robot import Robot

ROBOTS = {name: Robot(load_robot(name)) for name in ("mini_cheetah", "tocatl")}
by_robot = pytest.mark.parametrize("robot", ROBOTS.values(), ids=list(ROBOTS))
STEADY = settings(deadline=None, derandomize=True, max_examples=60)  # the first call compiles
UNIT = st.lists(st.floats(0, 1), min_size=18, max_size=18)


def pose_within_limits(robot: Robot, fractions: list[float]) -> np.ndarray:
    return robot.q_lower + np.array(fractions[: robot.num_joints]) * (robot.q_upper - robot.q_lower)


@pytest.mark.parametrize(
    ("q", "right", "left"),
    [
        ((0, 0, 0), (0, -0.066, -0.404), (0, 0.066, -0.404)),
        ((0, -0.8, 1.6), (-0.01004, -0.066, -0.28147), (-0.01004, 0.066, -0.28147)),
        ((0.3, -0.8, 1.6), (-0.01004, 0.02013, -0.28840), (-0.01004, 0.14623, -0.24939)),
        ((0, -1.4, 2.7), (-0.01807, -0.066, -0.08769), (-0.01807, 0.066, -0.08769)),
    ],
)
def test_mini_cheetah_feet_stand_where_the_reference_says(q: tuple, right: tuple, left: tuple) -> None:
    p, _, _ = leg_kinematics(np.tile(np.array(q, float), 4), ROBOTS["mini_cheetah"].chains)
    np.testing.assert_allclose(p, [right, left, right, left], atol=6e-6)


@STEADY
@given(st.tuples(*[st.floats(-3, 3)] * 3))
def test_mini_cheetah_feet_and_jacobians_follow_the_reference_formulas(q: tuple) -> None:
    l14, l2, l3 = 0.066, 0.209, 0.195
    (s1, s2, s23), (c1, c2, c23) = ((f(q[0]), f(q[1]), f(q[1] + q[2])) for f in (np.sin, np.cos))
    p, J, _ = leg_kinematics(np.tile(np.array(q), 4), ROBOTS["mini_cheetah"].chains)
    for leg, s in enumerate((-1, 1, -1, 1)):
        y = l14 * s * c1 + l3 * s1 * c23 + l2 * c2 * s1
        z = l14 * s * s1 - l3 * c1 * c23 - l2 * c1 * c2
        np.testing.assert_allclose(p[leg], [l3 * s23 + l2 * s2, y, z], atol=1e-12)
        np.testing.assert_allclose(J[leg, 0], [0, l3 * c23 + l2 * c2, l3 * c23], atol=1e-12)


@pytest.mark.parametrize(
    ("q", "foot"),
    [
        ((0, 0, 0), (0.833902, 0, 0.11425)),
        ((0.3, -0.5, 2.0), (0.353464, 0.095247, -0.184227)),
        ((-0.4, -0.2, 1.8), (0.331442, -0.120870, -0.277925)),
        ((0, -0.7, 2.1), (0.376063, 0, -0.124272)),
    ],
)
def test_tocatl_feet_stand_where_its_source_says_in_every_legs_frame(q: tuple, foot: tuple) -> None:
    robot = ROBOTS["tocatl"]
    p, _, _ = leg_kinematics(np.tile(np.array(q, float), 6), robot.chains)
    for leg, placed in enumerate(robot.description.legs.placed):
        in_body = robot.chains.mount_position[leg] + p[leg] - placed.mount.xyz
        np.testing.assert_allclose(robot.chains.mount_rotation[leg].T @ in_body, foot, atol=6e-7)


def test_tocatl_stands_on_its_ring_around_the_disc() -> None:
    robot = ROBOTS["tocatl"]
    feet = robot.chains.mount_position + robot.stand_feet
    np.testing.assert_allclose(np.hypot(feet[:, 0], feet[:, 1]), 0.59, atol=1e-9)
    np.testing.assert_allclose(feet[:, 2], 0.012 - 0.22, atol=1e-9)
    np.testing.assert_allclose(np.degrees(np.arctan2(feet[:, 1], feet[:, 0])) % 360, [30, 90, 150, 210, 270, 330])


@by_robot
@STEADY
@given(fractions=UNIT)
def test_jacobian_is_the_derivative_of_position(robot: Robot, fractions: list[float]) -> None:
    q, h = pose_within_limits(robot, fractions), 1e-6
    _, J, _ = leg_kinematics(q, robot.chains)
    for j in range(3):
        step = robot.per_joint(np.eye(3)[j]) * h
        ahead, behind = (leg_kinematics(q + sign * step, robot.chains)[0] for sign in (1, -1))
        np.testing.assert_allclose(J[:, :, j], (ahead - behind) / (2 * h), atol=1e-8)


@by_robot
@STEADY
@given(fractions=UNIT, seed=st.integers(0, 2**31))
def test_work_of_the_feet_is_work_of_the_joints(robot: Robot, fractions: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    q = pose_within_limits(robot, fractions)
    qd, force = rng.normal(size=robot.num_joints), rng.normal(size=(robot.num_legs, 3))
    _, J, _ = leg_kinematics(q, robot.chains)
    work = float((foot_velocities(J, qd) * force).sum())
    assert work == pytest.approx(float(joint_torques(J, force) @ qd), abs=1e-12)


@by_robot
@STEADY
@given(offsets=st.lists(st.floats(-0.35, 0.35), min_size=18, max_size=18))
def test_inverse_kinematics_finds_the_feet_of_every_pose_around_the_stand(robot: Robot, offsets: list[float]) -> None:
    stand = robot.pose("stand")
    wanted, _, _ = leg_kinematics(stand + np.array(offsets[: robot.num_joints]), robot.chains)
    q, error = inverse_kinematics(wanted, stand, robot.chains, robot.q_lower, robot.q_upper)
    assert error < 1e-9
    assert (q >= robot.q_lower).all() and (q <= robot.q_upper).all()
    np.testing.assert_allclose(q, stand + offsets[: robot.num_joints], atol=1e-6)


@by_robot
def test_inverse_kinematics_of_the_unreachable_is_finite_and_says_how_far(robot: Robot) -> None:
    target = robot.stand_feet + np.array([0, 0, -2.0])
    q, error = inverse_kinematics(target, robot.pose("stand"), robot.chains, robot.q_lower, robot.q_upper)
    assert np.isfinite(q).all()
    assert error > 1.0


def test_damped_solution_is_exact_without_damping_and_finite_where_singular() -> None:
    A, b = np.array([[2.0, 1, 0], [0, 1, 0.5], [1, 0, 3]]), np.array([1.0, -2, 0.5])
    np.testing.assert_allclose(solve3(A, b, 0.0), np.linalg.solve(A, b), rtol=1e-12)
    assert np.isfinite(solve3(np.zeros((3, 3)), b, 1e-3)).all()
