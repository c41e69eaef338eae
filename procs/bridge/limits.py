"""The bridge's own tier of limits: no command passes that the description does not allow, whoever made it. Pure."""

from __future__ import annotations

import numpy as np

from procs.bridge.joint_map import DriveCommand
from procs.model.robot import Robot


class Limits:
    """Clamps targets, torques and gains at the joints; counts the commands in which it had to."""

    def __init__(self, robot: Robot) -> None:
        margin = robot.description.safety.joint_margin
        self._lower, self._upper = robot.q_lower - margin, robot.q_upper + margin
        self._speed, self._torque = robot.qd_max, robot.tau_max
        self.limited = 0

    def apply(self, command: DriveCommand) -> DriveCommand:
        """The command within limits. What is not finite is not sent: those joints get zero gains and no torque."""
        c = command
        if not c.enable.any():
            return c  # the position is where the joint is, wherever that may be
        finite = np.isfinite(c.position + c.velocity + c.kp + c.kd + c.torque)
        out = DriveCommand(
            np.where(finite, np.clip(c.position, self._lower, self._upper), 0.0),
            np.where(finite, np.clip(c.velocity, -self._speed, self._speed), 0.0),
            np.where(finite, np.maximum(c.kp, 0.0), 0.0),
            np.where(finite, np.maximum(c.kd, 0.0), 0.0),
            np.where(finite, np.clip(c.torque, -self._torque, self._torque), 0.0),
            c.enable,
        )
        moved = (out.position != c.position) & (c.kp != 0.0)
        if moved.any() or (out.velocity != c.velocity).any() or (out.torque != c.torque).any() or not finite.all():
            self.limited += 1
        return out
