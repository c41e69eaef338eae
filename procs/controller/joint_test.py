"""One joint of a robot in a rig follows joint_test; all others are damped. The command must be kept alive."""

from __future__ import annotations

import numpy as np

from lcmtypes.generated import JointTest as JointTestMessage
from lcmtypes.generated import LegCommand, LegState
from procs.model.robot import Robot

EXPIRES = 0.3  # s without a new joint_test
RAMP = 0.5  # s from damping to full gains

Identity = tuple[str, int, int, int]


def _identity(test: JointTestMessage | None) -> Identity | None:
    return None if test is None else (test.source, test.run, test.seq, test.utime)


class JointTest:
    """Held-enable with a counter: a page that hangs lets go of the joint."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        self._damping = robot.per_joint(robot.description.control.damping)
        self.start(None)

    def start(self, test: JointTestMessage | None) -> None:
        """Enter the mode; the message already there does not count, its age is not known."""
        self._key: Identity | None = _identity(test)
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
        key = _identity(test)
        self._age = self._age + dt if key == self._key else 0.0
        self._key = key
        if test is None or not self._held(test):
            self._gain = 0.0
            return command
        if test.joint != self._joint:
            self._joint, self._gain = test.joint, 0.0
        self._gain = min(1.0, self._gain + dt / RAMP)
        j = test.joint
        kp = self._gain * max(test.kp, 0.0)
        kd = self._damping[j] + self._gain * (max(test.kd, 0.0) - self._damping[j])
        q_des = float(np.clip(test.q_des, robot.q_lower[j], robot.q_upper[j]))
        qd_des = self._gain * float(np.clip(test.qd_des, -robot.qd_max[j], robot.qd_max[j]))
        # A torque limit below the drive's: the gains give way so that the PD cannot ask for more.
        limit = min(max(test.tau_limit, 0.0), float(robot.tau_max[j]))
        torque = abs(kp * (q_des - legs.q[j]) + kd * (qd_des - legs.qd[j]))
        scale = min(1.0, limit / torque) if torque > 0 else 1.0
        command.q_des[j], command.qd_des[j] = q_des, qd_des
        command.kp_joint[j], command.kd_joint[j] = scale * kp, scale * kd
        return command

    def _held(self, test: JointTestMessage) -> bool:
        return bool(test.hold) and self._age < EXPIRES and 0 <= test.joint < self._robot.num_joints and test.finite()
