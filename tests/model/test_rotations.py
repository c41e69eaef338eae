"""Properties of procs.model.rotations."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.inertials import rpy_matrix
from procs.model.rotations import (
    axis_angle,
    quat_multiply,
    quat_to_matrix,
    quat_to_rpy,
    rotvec_to_quat,
    rpy_to_matrix,
    rpy_to_quat,
    wrap_angle,
)

STEADY = settings(deadline=None, derandomize=True, max_examples=60)  # the first call compiles
RPY = st.tuples(st.floats(-3.1, 3.1), st.floats(-1.55, 1.55), st.floats(-3.1, 3.1)).map(np.array)
VECTOR = st.tuples(*[st.floats(-2, 2)] * 3).map(np.array)


@STEADY
@given(RPY)
def test_matrices_are_rotations(rpy: np.ndarray) -> None:
    R = rpy_to_matrix(rpy)
    np.testing.assert_allclose(R @ R.T, np.eye(3), atol=1e-12)
    assert np.linalg.det(R) == pytest.approx(1)


@STEADY
@given(RPY)
def test_rpy_survives_a_round_trip(rpy: np.ndarray) -> None:
    np.testing.assert_allclose(quat_to_rpy(rpy_to_quat(rpy)), rpy, atol=1e-7)


@STEADY
@given(RPY)
def test_rpy_turns_about_x_then_y_then_z(rpy: np.ndarray) -> None:
    x, y, z = np.eye(3)
    by_axes = axis_angle(z, rpy[2]) @ axis_angle(y, rpy[1]) @ axis_angle(x, rpy[0])
    np.testing.assert_allclose(rpy_to_matrix(rpy), by_axes, atol=1e-12)


@STEADY
@given(RPY)
def test_config_and_model_agree_on_rpy(rpy: np.ndarray) -> None:
    np.testing.assert_allclose(rpy_matrix(rpy), rpy_to_matrix(rpy), atol=1e-14)


@STEADY
@given(RPY, RPY)
def test_quaternion_product_is_matrix_product(a: np.ndarray, b: np.ndarray) -> None:
    product = quat_to_matrix(quat_multiply(rpy_to_quat(a), rpy_to_quat(b)))
    np.testing.assert_allclose(product, rpy_to_matrix(a) @ rpy_to_matrix(b), atol=1e-12)


@STEADY
@given(VECTOR)
def test_rotation_vector_turns_by_its_length_about_itself(v: np.ndarray) -> None:
    angle = float(np.linalg.norm(v))
    q = rotvec_to_quat(v)
    assert np.linalg.norm(q) == pytest.approx(1)
    np.testing.assert_allclose(quat_to_matrix(q) @ v, v, atol=1e-9)
    if angle > 1e-6:
        np.testing.assert_allclose(quat_to_matrix(q), axis_angle(v / angle, angle), atol=1e-9)


def test_a_quarter_turn_about_z_turns_x_into_y() -> None:
    np.testing.assert_allclose(rpy_to_matrix(np.array([0, 0, np.pi / 2])) @ [1, 0, 0], [0, 1, 0], atol=1e-15)


@STEADY
@given(st.floats(-50, 50))
def test_wrapped_angles_are_the_same_direction_within_half_a_turn(angle: float) -> None:
    wrapped = wrap_angle(angle)
    assert -np.pi <= wrapped <= np.pi
    assert np.cos(wrapped - angle) == pytest.approx(1)
