"""Robot: arrays of a description, composite mass properties; and all of it against PyBullet."""

import numpy as np
import pytest

from config.load import load_robot, parse_robot, robot_text
from procs.model.robot import Robot
from tools import robot_check

ROBOTS = {name: Robot(load_robot(name)) for name in ("mini_cheetah", "tocatl")}
by_robot = pytest.mark.parametrize("robot", ROBOTS.values(), ids=list(ROBOTS))


@by_robot
def test_yaml_urdf_physics_and_kinematics_agree(robot: Robot) -> None:
    results = robot_check.check_robot(robot, poses=50)
    assert all(r.passed for r in results), robot_check.table(robot, results)


def test_the_check_notices_a_wrong_nominal_height() -> None:
    robot = Robot(load_robot("mini_cheetah", ["control.nominal_height=0.25"]))
    failed = [r.name for r in robot_check.check_robot(robot, poses=1) if not r.passed]
    assert failed == ["stand pose: nominal height"]


def test_the_command_says_what_it_found(capsys: pytest.CaptureFixture[str]) -> None:
    assert robot_check.main(["mini_cheetah", "--poses", "1"]) == 0
    assert "mini_cheetah: 4 legs, 8.912 kg" in capsys.readouterr().out
    assert robot_check.main(["no_such_robot"]) == 1
    assert "known robots" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "mass"), [("mini_cheetah", 8.912), ("tocatl", 13.6)])
def test_mass_is_that_of_all_parts(name: str, mass: float) -> None:
    assert ROBOTS[name].mass == pytest.approx(mass, abs=1e-9)


@by_robot
def test_composite_inertia_is_physical_and_the_stand_is_balanced_sideways(robot: Robot) -> None:
    _, com, inertia = robot.composite(robot.pose("stand"))
    moments = np.linalg.eigvalsh(inertia)
    assert moments[0] > 0
    assert moments[2] < moments[0] + moments[1]
    assert abs(com[1]) < 1e-12


def test_mini_cheetah_composite_is_near_the_inertia_its_reference_controller_uses() -> None:
    _, _, inertia = ROBOTS["mini_cheetah"].composite(ROBOTS["mini_cheetah"].pose("stand"))
    np.testing.assert_allclose(np.diag(inertia), [0.07, 0.26, 0.242], rtol=0.25)


def test_composite_mass_centre_moves_with_the_legs() -> None:
    robot = ROBOTS["mini_cheetah"]
    down, up = (robot.composite(robot.per_joint(q))[1] for q in ((0, 0, 0), (0, np.pi / 2, 0)))
    assert up[0] > down[0] and up[2] > down[2]


@by_robot
def test_arrays_are_frozen_and_in_leg_order(robot: Robot) -> None:
    assert robot.joint_names[3] == f"{robot.leg_names[1]}.{robot.description.legs.chain[0].name}"
    for array in (robot.q_lower, robot.tau_max, robot.pose("stand"), robot.stand_feet, *robot.chains):
        assert not array.flags.writeable
    assert robot.pose("stand").shape == (robot.num_joints,)


def test_a_pose_may_differ_from_leg_to_leg() -> None:
    triples = [[0.1 * leg, -0.8, 1.6] for leg in range(4)]
    robot = Robot(parse_robot(robot_text("mini_cheetah", [f"control.poses.down={triples}"])))
    np.testing.assert_allclose(robot.pose("down")[::3], [0, 0.1, 0.2, 0.3])


def test_an_unknown_pose_names_the_known_ones() -> None:
    with pytest.raises(KeyError, match="down, stand"):
        ROBOTS["mini_cheetah"].pose("sit")
