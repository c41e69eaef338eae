"""config.checks: each check passes on the real robots and fails on a copy broken in one place."""

from typing import Any

import pytest
import yaml

from config.checks import CHECKS, check
from config.load import load_robot, robot_names, robot_text
from config.schema import RobotDescription

LINK_1 = ("legs", "chain", 1, "link", "inertia")
ROLL = ("control", "recover", "roll")
BROKEN: list[tuple[tuple[str | int, ...], Any, str]] = [
    (("body", "inertia"), [0.01, 0.01, 0, 0, 0, 0], "body.inertia: want positive definite"),
    (("body", "inertia"), [0.01, 0.01, 0.01, 0.02, 0, 0], "body.inertia: want positive definite"),
    (("body", "inertia"), [0.01, 0.01, 0.021, 0, 0, 0], "body.inertia: want each principal moment <="),
    (LINK_1, [1983e-6, 2103e-6, 408e-6, 245e-6, -13e-6, -1.5e-6], "legs.chain.1.link.inertia: want each principal"),
    (("legs", "chain", 2, "limits"), [2.85, 0.05], "legs.chain.2.limits: want lower < upper"),
    (("legs", "chain", 0, "axis"), [0, 0, 0], "legs.chain.0.axis: want a unit vector"),
    (("legs", "chain", 0, "axis"), [1, 0, 1e-2], "legs.chain.0.axis: want a unit vector"),
    (("legs", "chain", 1, "name"), "abad", "legs.chain.1.name: want a joint name not used before"),
    (("legs", "chain", 1, "name"), "hip.1", "legs.chain.1.name: want letters, digits and _"),
    (("legs", "placed", 3, "name"), "FR", "legs.placed.3.name: want a leg name not used before"),
    (("legs", "foot"), [0, 0, -0.01], "legs.foot: want a centre beyond foot_radius"),
    (("legs", "chain", 2, "capsule_radius"), 0.02, "legs.chain.2.capsule_radius: want at most foot_radius"),
    (("legs", "chain", 1, "actuator"), "hips", "legs.chain.1.actuator: want one of abad, hip, knee"),
    (("actuators", "knee", "torque_max"), 30, "actuators.knee.torque_max: want at most gear * motor_torque_max"),
    (("control", "poses", "stand"), [[0, -0.8, 1.6]] * 3, "control.poses.stand: want 1 triple for all legs or 4"),
    (("control", "poses", "down"), [[0, -1.4, 2.9]], "control.poses.down.0: want knee within 0.05..2.85"),
    (("control", "poses", "stand"), None, "control.poses.stand: required: down, stand"),
    ((*ROLL, "FR"), None, "control.recover.roll: want one pose for each of FR, FL, RR, RL"),
    ((*ROLL, "FR"), [2, 0, 1], "control.recover.roll.FR: want abad within -1.6..1.6"),
    (("control", "default_gait"), "trott", "control.default_gait: want one of "),
    (("control", "gaits", "trot", "offsets"), [0, 0.5], "control.gaits.trot.offsets: want 4 numbers, one per leg"),
    (("control", "gaits", "trot", "vx"), [1, -1], "control.gaits.trot.vx: want lower < upper"),
    (("control", "limits", "pitch"), [0.4, 0.4], "control.limits.pitch: want lower < upper"),
    (("control", "limits", "vx"), [0.1, 1], "control.limits.vx: want a range that holds 0"),
    (("control", "nominal_height"), 0.5, "control.nominal_height: want within control.limits.height"),
    (("control", "gaits", "trot", "height"), 0.1, "control.gaits.trot.height: want within control.limits.height"),
    (("sim", "start", "pose"), "nowhere", "sim.start.pose: want one of down, stand"),
    (("sim", "rate"), 750, "sim.rate: want a whole multiple of control.rate"),
    (("sim", "rate"), 250, "sim.rate: want a whole multiple of control.rate"),
]


def broken(path: tuple[str | int, ...], value: Any) -> RobotDescription:
    """Mini Cheetah with one value replaced (None: removed)."""
    data = yaml.safe_load(robot_text("mini_cheetah"))
    place: Any = data
    for part in path[:-1]:
        place = place[part]
    if value is None:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return RobotDescription.model_validate(data)


@pytest.mark.parametrize("name", robot_names())
def test_the_robots_have_no_problems(name: str) -> None:
    assert check(load_robot(name)) == []


@pytest.mark.parametrize(("path", "value", "line"), BROKEN, ids=[".".join(map(str, b[0])) for b in BROKEN])
def test_a_broken_copy_is_found_out(path: tuple[str | int, ...], value: Any, line: str) -> None:
    problems = check(broken(path, value))
    assert [p for p in problems if f"{p.path}: {p.allowed}".startswith(line)], [str(p) for p in problems]


def test_every_check_finds_one_of_the_broken_copies() -> None:
    copies = [broken(path, value) for path, value, _ in BROKEN]
    for names, function in CHECKS:
        found = [copy for copy in copies if list(function(*(getattr(copy, name) for name in names)))]
        assert found, function.__name__
