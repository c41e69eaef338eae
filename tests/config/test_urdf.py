"""config.urdf and config.inertials: mass, principal axes, shapes."""

from xml.etree import ElementTree

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from config.inertials import body_inertial, combine, link_inertials, rpy_matrix, steiner, total_mass
from config.load import load_robot, robot_names
from config.urdf import link_name, matrix_rpy, principal, urdf

STEADY = settings(deadline=None, derandomize=True, max_examples=60)
ANGLES = st.tuples(*[st.floats(-3.1, 3.1)] * 3)
MASSES = {"mini_cheetah": 8.912, "tocatl": 13.6}


def numbers(text: str) -> np.ndarray:
    return np.array([float(v) for v in text.split()])


def parsed(name: str) -> ElementTree.Element:
    return ElementTree.fromstring(urdf(load_robot(name)))


@pytest.mark.parametrize(("name", "mass"), MASSES.items())
def test_the_whole_robot_weighs_what_its_source_says(name: str, mass: float) -> None:
    assert total_mass(load_robot(name)) == pytest.approx(mass, abs=1e-9)
    assert sum(float(m.attrib["value"]) for m in parsed(name).iter("mass")) == pytest.approx(mass, abs=1e-9)


@pytest.mark.parametrize("name", robot_names())
def test_links_and_joints_are_those_of_the_legs(name: str) -> None:
    legs, root = load_robot(name).legs, parsed(name)
    pairs = [(leg.name, joint.name) for leg in legs.placed for joint in legs.chain]
    assert [link.attrib["name"] for link in root.iter("link")] == ["body", *(link_name(*pair) for pair in pairs)]
    assert [j.attrib["name"] for j in root.findall("joint")] == [".".join(pair) for pair in pairs]


@pytest.mark.parametrize("name", robot_names())
def test_inertial_frames_give_the_description_back_exactly(name: str) -> None:
    description, root = load_robot(name), parsed(name)
    expected = [body_inertial(description)]
    for leg in range(len(description.legs.placed)):
        expected += link_inertials(description, leg)
    for (mass, com, inertia), element in zip(expected, root.iter("inertial"), strict=True):
        origin, tensor = element.find("origin").attrib, element.find("inertia").attrib
        R = rpy_matrix(numbers(origin["rpy"]))
        moments = np.array([float(tensor[key]) for key in ("ixx", "iyy", "izz")])
        assert float(element.find("mass").attrib["value"]) == mass
        np.testing.assert_array_equal(numbers(origin["xyz"]), com)
        np.testing.assert_allclose(R @ np.diag(moments) @ R.T, inertia, atol=1e-14)
        assert moments.max() <= 0.5 * moments.sum()  # Bullet drops a tensor without this


@pytest.mark.parametrize("name", robot_names())
def test_the_foot_sphere_reaches_beyond_the_capsule_of_its_link(name: str) -> None:
    legs, root = load_robot(name).legs, parsed(name)
    foot = np.linalg.norm(legs.foot)
    for leg in legs.placed:
        link = next(k for k in root.iter("link") if k.attrib["name"] == link_name(leg.name, legs.chain[2].name))
        capsule, sphere = link.findall("collision")
        shape = capsule.find("geometry/capsule").attrib
        tip = np.linalg.norm(numbers(capsule.find("origin").attrib["xyz"])) + float(shape["length"]) / 2
        assert tip + float(shape["radius"]) <= foot + 1e-12
        assert float(sphere.find("geometry/sphere").attrib["radius"]) == legs.foot_radius
        assert np.linalg.norm(numbers(sphere.find("origin").attrib["xyz"])) == pytest.approx(foot)


@STEADY
@given(ANGLES, st.tuples(*[st.floats(0.1, 1.0)] * 3))
def test_principal_axes_rebuild_the_tensor_and_stay_next_to_the_link_axes(rpy: tuple, moments: tuple) -> None:
    R = rpy_matrix(rpy)
    tensor = R @ np.diag(moments) @ R.T
    found, axes = principal(tensor)
    np.testing.assert_allclose(axes @ np.diag(found) @ axes.T, tensor, atol=1e-12)
    assert np.linalg.det(axes) == pytest.approx(1)
    assert np.trace(axes) >= 1 - 1e-9  # the nearest of 24 frames is at most 90 degrees away


def test_principal_axes_of_a_diagonal_tensor_are_the_link_axes() -> None:
    moments, axes = principal(np.diag([3.0, 1.0, 2.0]))
    np.testing.assert_array_equal(moments, [3, 1, 2])
    np.testing.assert_array_equal(axes, np.eye(3))


@STEADY
@given(ANGLES)
def test_rpy_of_a_matrix_gives_the_matrix_back(rpy: tuple) -> None:
    R = rpy_matrix(rpy)
    np.testing.assert_allclose(rpy_matrix(matrix_rpy(R)), R, atol=1e-9)


@pytest.mark.parametrize("pitch", [np.pi / 2, -np.pi / 2])
def test_rpy_of_a_matrix_survives_gimbal_lock(pitch: float) -> None:
    R = rpy_matrix((0.4, pitch, -1.1))
    np.testing.assert_allclose(rpy_matrix(matrix_rpy(R)), R, atol=1e-9)


def test_two_points_combine_to_a_dumbbell() -> None:
    ends = [(2.0, np.array([0.0, y, 0.0]), np.zeros((3, 3))) for y in (0.0, 1.0)]
    mass, com, inertia = combine(ends)
    assert mass == 4
    np.testing.assert_allclose(com, [0, 0.5, 0])
    np.testing.assert_allclose(inertia, np.diag([1, 0, 1]))
    np.testing.assert_allclose(steiner(4.0, np.array([0, 0.5, 0])), np.diag([1, 0, 1]))


def test_right_legs_mirror_the_left_ones() -> None:
    description = load_robot("mini_cheetah")
    flip = np.array([1, -1, 1])
    for right, left in ((0, 1), (2, 3)):
        pairs = zip(link_inertials(description, right), link_inertials(description, left), strict=True)
        for (m_r, c_r, I_r), (m_l, c_l, I_l) in pairs:
            assert m_r == m_l
            np.testing.assert_array_equal(c_r, c_l * flip)
            np.testing.assert_array_equal(I_r, I_l * np.outer(flip, flip))


def test_the_trunk_with_its_four_rotors_is_balanced() -> None:
    mass, com, inertia = body_inertial(load_robot("mini_cheetah"))
    assert mass == pytest.approx(3.3 + 4 * 0.055)
    np.testing.assert_allclose(com, 0, atol=1e-15)
    # four point masses at (+-0.125, +-0.049, 0), the reference's rotor places
    np.testing.assert_allclose(inertia[2, 2], 0.042673 + 4 * 0.055 * (0.125**2 + 0.049**2))
