"""Joint layout of MIT's robots against ours: order of the legs, signs of the joints; checked once.

MIT (Quadruped.h, LegController.cpp): legs FR FL HR HL; joints abad, hip, knee, leg-major; abad turns about +x, hip and
knee about -y (their frames are turned by pi about z), the same on all legs; zero: the leg hangs straight down.
"""

from __future__ import annotations

import numpy as np

from config.problems import Absent, ConfigError, Problem
from procs.model.robot import Robot

LEGS = ("FR", "FL", "HR", "HL")
QUARTERS = ((1, -1), (1, 1), (-1, -1), (-1, 1))  # signs of x and y of their first joints
AXES = np.array([[1.0, 0, 0], [0, -1, 0], [0, -1, 0]])
STRAIGHT = 0.1  # rad by which thigh and shank may lean at zero: a foot that is a little forward of its shank
PARALLEL = 1e-6


class Layout:
    """`joints` and `legs`: our index of each of MIT's; `signs`: MIT's angle over ours."""

    def __init__(self, robot: Robot) -> None:
        problems = _problems(robot)
        if problems:
            raise ConfigError(f"{robot.name} has not the joint layout of MIT's robots", problems)
        at = robot.chains.mount_position
        self.legs = np.array([_leg_at(at, quarter)[0] for quarter in QUARTERS])
        self.joints = (3 * self.legs[:, None] + np.arange(3)).ravel()
        axes = _axes(robot)[self.legs]
        self.signs = np.round(np.einsum("ljk,jk->lj", axes, AXES)).ravel()

    def to_mit(self, joints: np.ndarray) -> np.ndarray:
        """Angles, rates or torques (12,) in MIT's order and signs."""
        return self.signs * joints[self.joints]

    def from_mit(self, joints: np.ndarray) -> np.ndarray:
        """The way back."""
        out = np.empty(12)
        out[self.joints] = self.signs * joints
        return out


def _axes(robot: Robot) -> np.ndarray:
    """Joint axes (L, 3, 3) in body axes at the zero pose: [leg, joint]."""
    return np.einsum("lik,ljk->lji", robot.chains.mount_rotation, robot.chains.axes)


def _leg_at(at: np.ndarray, quarter: tuple[int, int]) -> np.ndarray:
    return np.flatnonzero((np.sign(at[:, :2]) == quarter).all(axis=1))


def _problems(robot: Robot) -> list[Problem]:
    """What differs from MIT's layout, all at once."""
    if robot.num_legs != 4:
        return [Problem("legs.placed", robot.num_legs, "MIT's messages hold 4 legs of 3 joints each")]
    out = []
    for name, quarter in zip(LEGS, QUARTERS, strict=True):
        count = len(_leg_at(robot.chains.mount_position, quarter))
        if count != 1:
            where = f"MIT has one leg, {name}, at x {quarter[0]:+d}, y {quarter[1]:+d}"
            out.append(Problem("legs.placed", Absent(f"{count} legs"), where))
    axes = _axes(robot)
    for leg in range(4):
        for joint, name in enumerate(robot.joint_names[3 * leg : 3 * leg + 3]):
            axis = axes[leg, joint]
            if abs(abs(axis @ AXES[joint]) - 1) > PARALLEL:
                what = f"MIT's turns about {'x' if joint == 0 else 'y'} in body axes"
                out.append(Problem(f"legs.chain {name} axis", np.round(axis, 3).tolist(), what))
        parts = (("thigh", robot.chains.origins[leg, 2]), ("shank", robot.chains.foot[leg]))
        for part, vector in parts:
            x, _, z = robot.chains.mount_rotation[leg] @ vector
            lean = abs(float(np.arctan2(x, -z)))
            if lean > STRAIGHT:
                where = f"legs.chain {robot.leg_names[leg]} {part}"
                out.append(Problem(where, Absent(f"leans {lean:.2f} rad at zero"), "MIT's hangs straight down"))
    return out
