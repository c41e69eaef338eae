"""Rejection of bad sensor samples: predicted and marked for a short while, fatal after (design section 8)."""

from __future__ import annotations

import numpy as np

from lcmtypes.generated import Imu, JointState
from procs.model.robot import Robot

GOOD, PREDICTED, LOST = 0, 1, 2
SEVERAL = 5  # ticks for which more joints than may be predicted are borne: one garbled frame holds half the robot


class SampleCheck:
    """Checks each tick's imu and joint_state in place; `fatal` says why damping must be latched."""

    def __init__(self, robot: Robot) -> None:
        safety = robot.description.safety
        self._dt = robot.dt
        self._names = robot.joint_names
        self._most = safety.reject_joints
        self._ticks = round(safety.reject_time / robot.dt)
        quanta = [(a.position_quantum, a.velocity_quantum) for a in robot.actuators]
        self._jump = robot.per_joint([safety.jump_quanta * (p + v * robot.dt) for p, v in quanta])
        self._qd_max = robot.qd_max
        self._lower = robot.q_lower - np.pi  # beyond any mechanism: the reading is nonsense, not a posture
        self._upper = robot.q_upper + np.pi
        self.reset()

    def reset(self) -> None:
        """A new run."""
        n = len(self._names)
        self.fatal = ""
        self._q = np.full(n, np.nan)  # last good or predicted position; NaN: none yet
        self._qd = np.zeros(n)
        self._bad = np.zeros(n, int)  # ticks since the last good sample
        self._imu: Imu | None = None
        self._imu_bad = 0

    def check(self, imu: Imu, joints: JointState) -> int:
        """Replace bad values by predicted ones and mark them; returns how many samples were rejected."""
        return self._check_imu(imu) + self._check_joints(joints)

    def _check_imu(self, imu: Imu) -> int:
        norm = float(np.dot(imu.quat, imu.quat)) if imu.finite() else 0.0
        if imu.valid and abs(norm - 1.0) < 0.01:
            self._imu, self._imu_bad = imu, 0
            return 0
        self._imu_bad += 1
        if self._imu is None:
            imu.quat[:], imu.gyro[:], imu.accel[:] = (1, 0, 0, 0), 0, 0
        else:
            imu.quat[:], imu.gyro[:], imu.accel[:] = self._imu.quat, self._imu.gyro, self._imu.accel
        imu.valid = 0
        imu.status = imu.status or "rejected: not finite or not a unit quaternion"
        if self._imu_bad > self._ticks:
            self.fatal = f"imu lost for {1e3 * self._imu_bad * self._dt:.0f} ms"
        return 1

    def _check_joints(self, joints: JointState) -> int:
        q, qd, tau = joints.q, joints.qd, joints.tau
        predicted = self._q + self._dt * self._qd
        # A joint cannot move faster than its drive allows: what did so anyway was misread.
        reach = 2.0 * self._qd_max * self._dt * (1 + self._bad) + self._jump
        with np.errstate(invalid="ignore"):
            good = (np.abs(q - self._q) <= reach) | np.isnan(self._q)
            good &= (np.abs(qd) <= 3.0 * self._qd_max) & np.isfinite(tau)
            good &= (q > self._lower) & (q < self._upper) & (joints.fault == GOOD)
        if good.all():
            self._q, self._qd = q.copy(), qd.copy()
            if self._bad.any():
                self._bad[:] = 0
            return 0
        bad = ~good
        self._bad[good] = 0
        self._bad[bad] += 1
        self._q, self._qd = np.where(good, q, predicted), np.where(good, qd, self._qd)
        q[:], qd[:], tau[bad] = self._q, self._qd, 0.0
        q[np.isnan(q)] = 0.0  # a first sample that is bad has nothing to be predicted from
        joints.fault[bad] = PREDICTED
        joints.age[:] = self._bad * self._dt
        said = f" ({joints.status})" if joints.status else ""  # a bridge knows why
        joints.status = joints.status or f"{int(bad.sum())} joints rejected"
        worst, lost = int(self._bad.argmax()), self._bad > self._ticks
        joints.fault[lost] = LOST
        if lost.any():
            self.fatal = f"joint {self._names[worst]} lost for {1e3 * self._bad[worst] * self._dt:.0f} ms{said}"
        elif bad.sum() > self._most and self._bad[worst] > SEVERAL:
            self.fatal = f"{int(bad.sum())} joints lost at once{said}"
        return int(bad.sum())
