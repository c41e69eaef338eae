"""One joint of a robot in a rig follows joint_test; all others are damped. The command must be kept alive."""

from __future__ import annotations

import numpy as np

from lcmtypes.generated import JointTest as JointTestMessage
from lcmtypes.generated import LegCommand, LegState
from procs.model.robot import Robot

EXPIRES = 0.3  # s without a new joint_test
RAMP = 0.5  # s from zero to full gains


class JointTest:
    """Held-enable with a counter: a page that hangs lets go of the joint."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._damping = robot.per_joint(robot.description.control.damping)
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self._key: tuple[int, int] | None = None
        self._age = EXPIRES
        self._gain = 0.0
        self._joint = -1

    def step(self, test: JointTestMessage | None, legs: LegState) -> LegCommand:
        """Leg command of this tick."""
        robot, dt = self._robot, self._robot.dt
        command = LegCommand(robot.num_legs, robot.num_joints)
        command.enable = 1
        command.q_des[:] = legs.q
        command.kd_joint[:] = self._damping
        key = None if test is None else (test.run, test.seq)
        self._age = 0.0 if key is not None and key != self._key else self._age + dt
        self._key = key
        if test is None or not test.hold or self._age >= EXPIRES or not 0 <= test.joint < robot.num_joints:
            self._gain = 0.0
            return command
        if test.joint != self._joint:
            self._joint, self._gain = test.joint, 0.0
        self._gain = min(1.0, self._gain + dt / RAMP)
        j = test.joint
        kp, kd = self._gain * max(test.kp, 0.0), max(test.kd, 0.0)
        q_des = float(np.clip(test.q_des, robot.q_lower[j], robot.q_upper[j]))
        # A torque limit below the drive's: shorten the error so that the PD cannot ask for more.
        limit = min(max(test.tau_limit, 0.0), float(robot.tau_max[j]))
        wanted = kp * (q_des - legs.q[j]) + kd * (test.qd_des - legs.qd[j])
        scale = min(1.0, limit / abs(wanted)) if wanted else 1.0
        command.q_des[j], command.qd_des[j] = q_des, test.qd_des
        command.kp_joint[j], command.kd_joint[j] = scale * kp, scale * kd
        return command
