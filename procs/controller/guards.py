"""What must hold for a mode: guards before a transition, faults that lead to damping."""

from __future__ import annotations

import math

import numpy as np

from lcmtypes.generated import BodyState, LegState
from procs.controller.modes import CARRYING, MOVING
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix

INVALID_TIME = 0.1  # s an invalid body state is borne while walking
CARRY = 0.5  # contact probability above which a foot counts as carrying


class Guards:
    """Tilt, validity, joint limits, and whether the feet carry the robot."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        control, safety = robot.description.control, robot.description.safety
        self._cos_tilt = math.cos(control.limits.tilt)
        self._settle = control.modes.settle
        self._lower = robot.q_lower - safety.joint_margin
        self._upper = robot.q_upper + safety.joint_margin
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self._invalid = 0.0
        self._carried = 0.0

    def check(self, mode: str, body: BodyState | None, legs: LegState) -> str:
        """Why the robot must go to damping now; empty if it need not."""
        dt = self._robot.dt
        if body is not None:
            loaded = float(np.mean(body.contact > CARRY))
            self._carried = min(1.0, self._carried + dt) if loaded > 0.7 else max(0.0, self._carried - 10 * dt)
        self._invalid = 0.0 if body is not None and body.valid else self._invalid + dt
        if mode not in MOVING:
            return ""
        if mode == "walk" and self._invalid > INVALID_TIME:
            return f"body state not valid: {body.reason if body is not None else 'none'}"
        if mode in CARRYING and body is not None and quat_to_matrix(body.quat)[2, 2] < self._cos_tilt:
            roll, pitch = np.degrees(body.rpy[:2])
            return f"fall: roll {roll:.0f} deg, pitch {pitch:.0f} deg"
        beyond = (legs.q < self._lower) | (legs.q > self._upper)
        if beyond.any():
            k = int(beyond.argmax())
            return f"joint {self._robot.joint_names[k]} at {legs.q[k]:.2f} rad beyond its limit and margin"
        return ""

    def refusal(self, mode: str, passed: float, body: BodyState | None) -> str:
        """Why a mode may not be entered `passed` s after the last one was: a reason, `wait`, or empty."""
        if mode == "ready":
            return "" if body is not None else "wait"
        if passed < self._settle:
            return "wait"
        if mode == "walk":
            if body is None or not body.valid:
                return f"body state not valid: {body.reason if body is not None else 'none'}"
            if self._carried < self._settle:
                return "the feet do not carry the robot"
        return ""
