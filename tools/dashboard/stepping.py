"""Kinematic stepping: joint angles of a gait at zero effort, for the eye. Feet slide back while they stand, arc while
they swing; no physics."""

from __future__ import annotations

import math

import numpy as np

from config.schema import Gait
from procs.model.legs import inverse_kinematics
from procs.model.robot import Robot

STRIDE = 0.3  # of the nominal height
SLOWER = 4.0  # times the gait's own period, so that it can be watched


class Stepping:
    """Angles of a gait over time, each from the last."""

    def __init__(self, robot: Robot, gait: Gait) -> None:
        control = robot.description.control
        self._robot, self._gait = robot, gait
        self._stride = STRIDE * control.nominal_height
        self._lift = gait.swing_height or control.foothold.swing_height
        self._q = np.array(robot.pose("stand"))

    def angles(self, t: float) -> np.ndarray:
        """(num_joints,) rad at t s."""
        robot = self._robot
        target = robot.stand_feet + self.offsets(t)
        self._q, _ = inverse_kinematics(target, self._q, robot.chains, robot.q_lower, robot.q_upper)
        return self._q

    def offsets(self, t: float) -> np.ndarray:
        """Feet (L, 3) m from where they stand: at the front at touch-down, at the back at lift-off."""
        gait, out = self._gait, np.zeros((self._robot.num_legs, 3))
        if gait.duty >= 1.0:
            return out
        for leg, offset in enumerate(gait.offsets):
            phase = (t / (SLOWER * gait.period) - offset) % 1.0
            if phase < gait.duty:
                out[leg, 0] = self._stride * (0.5 - phase / gait.duty)
            else:
                s = (phase - gait.duty) / (1.0 - gait.duty)
                out[leg, 0] = self._stride * (s - 0.5)
                out[leg, 2] = self._lift * math.sin(math.pi * s)
        return out
