"""python -m tools.robot_check [ROBOT...]: does each robot's YAML, URDF, physics and kinematics say the same?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from typing import NamedTuple
from xml.etree import ElementTree

import numpy as np

from config.inertials import total_mass
from config.load import ConfigError, load_robot, robot_names
from config.urdf import urdf
from procs.model.legs import inverse_kinematics
from procs.model.robot import Robot
from sim import model_check


class Result(NamedTuple):
    """One comparison: what was measured and the most it may be."""

    name: str
    value: float
    limit: float
    unit: str

    @property
    def passed(self) -> bool:
        """Within the limit."""
        return bool(self.value <= self.limit)


def urdf_mass(text: str) -> float:
    """kg of all links of a URDF."""
    return sum(float(m.attrib["value"]) for m in ElementTree.fromstring(text).iter("mass"))


def stand_errors(robot: Robot) -> tuple[float, float, float]:
    """Of the stand pose: the inverse kinematics' error for it (m), its height against nominal_height (m, mean foot),
    and how far its feet are from one plane (m)."""
    stand = robot.pose("stand")
    middle = (robot.q_lower + robot.q_upper) / 2
    guess = np.clip(0.8 * stand + 0.2 * middle, robot.q_lower, robot.q_upper)
    _, reach = inverse_kinematics(robot.stand_feet, guess, robot.chains, robot.q_lower, robot.q_upper)
    z = robot.chains.mount_position[:, 2] + robot.stand_feet[:, 2]
    height = robot.foot_radius - float(z.mean())
    return reach, abs(height - robot.description.control.nominal_height), float(np.ptp(z))


def check_robot(robot: Robot, poses: int = 200) -> list[Result]:
    """All comparisons of one robot."""
    mass = total_mass(robot.description)
    bullet_mass, bullet_centre, bullet_inertia = model_check.inertial_errors(robot)
    reach, height, level = stand_errors(robot)
    return [
        Result("mass: URDF - YAML", abs(urdf_mass(urdf(robot.description)) - mass), 1e-9, "kg"),
        Result("mass: model - YAML", abs(robot.mass - mass), 1e-9, "kg"),
        Result("mass: PyBullet - YAML", abs(model_check.bullet_mass(robot) - mass), 1e-9, "kg"),
        Result("link masses: PyBullet", bullet_mass, 1e-6, "of link"),
        Result("link centres: PyBullet", bullet_centre, 1e-9, "m"),
        Result("link inertias: PyBullet", bullet_inertia, 1e-6, "of link"),
        Result(f"feet, {poses} poses: PyBullet", model_check.foot_error(robot, poses), 1e-6, "m"),
        Result("stand pose: reached", reach, 1e-9, "m"),
        Result("stand pose: nominal height", height, 0.02, "m"),
        Result("stand pose: feet level", level, 1e-6, "m"),
    ]


def table(robot: Robot, results: Sequence[Result]) -> str:
    """Lines for a person."""
    lines = [f"{robot.name}: {robot.num_legs} legs, {robot.mass:.6g} kg"]
    for r in results:
        lines.append(f"  {'ok  ' if r.passed else 'FAIL'} {r.name:<32} {r.value:10.2e} <= {r.limit:.0e} {r.unit}")
    return "\n".join(lines)


def main(argv: Sequence[str] | None = None) -> int:
    """0 if all robots pass, else 1."""
    parser = argparse.ArgumentParser(prog="tools.robot_check", description=__doc__)
    parser.add_argument("robots", nargs="*", metavar="ROBOT", help="name or YAML file; default: all")
    parser.add_argument("--poses", type=int, default=200, help="random poses for the feet")
    parser.add_argument("--set", action="append", default=[], metavar="PATH=VALUE", dest="overrides")
    arguments = parser.parse_args(argv)
    failed = False
    for name in arguments.robots or robot_names():
        try:
            robot = Robot(load_robot(name, arguments.overrides))
        except ConfigError as error:
            print(error)
            failed = True
            continue
        results = check_robot(robot, arguments.poses)
        print(table(robot, results))
        failed = failed or not all(r.passed for r in results)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
