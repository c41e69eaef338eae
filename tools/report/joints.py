"""Joints of a run: torque told and given, shares of the limits."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lcmtypes.channels import GROUND_TRUTH, JOINT_COMMAND, JOINT_STATE
from procs.model.motor import Drives, drive_torque, drives
from tools.report.log import Run

MOST_DELAY = 4  # ticks from sample to effect that are tried
PD = ("q_des", "qd_des", "tau_ff", "kp", "kd")


class Joints:
    """Arrays (ticks, joints); None where the log lacks the channel."""

    def __init__(self, run: Run) -> None:
        self.run, self.robot = run, run.robot
        self.q, self.qd, self.tau, self.fault, self.age = (
            run.field(JOINT_STATE, n) for n in ("q", "qd", "tau", "fault", "age")
        )
        sources = {s for s in run.words(JOINT_STATE, "tau_source") if s}
        self.tau_source = ", ".join(sorted(sources))
        self.measured = "computed" not in sources  # a computed torque says nothing of what the drive does

    @cached_property
    def torque_share(self) -> np.ndarray | None:
        """|torque| as a share of the limit."""
        return None if self.tau is None else np.abs(self.tau) / self.robot.tau_max

    @cached_property
    def speed_share(self) -> np.ndarray | None:
        """|velocity| as a share of the limit."""
        return None if self.qd is None else np.abs(self.qd) / self.robot.qd_max

    @cached_property
    def limit_margin(self) -> np.ndarray | None:
        """rad to the nearer joint limit; negative beyond it."""
        return None if self.q is None else np.minimum(self.q - self.robot.q_lower, self.robot.q_upper - self.q)

    @cached_property
    def saturated(self) -> np.ndarray | None:
        """Share of the tick at a limit of torque or voltage: the simulator's own, else by the torque."""
        true = self.run.field(GROUND_TRUTH, "saturated")
        if true is not None or self.torque_share is None:
            return true
        return (self.torque_share >= 0.98).astype(float)

    @cached_property
    def told(self) -> tuple[np.ndarray, int] | None:
        """Torque (ticks, joints) that the command in force asks of a drive with its limits, and the delay in ticks."""
        fields = [self.run.field(JOINT_COMMAND, n) for n in (*PD, "enable")]
        command = [x for x in fields if x is not None]
        if self.q is None or self.qd is None or self.tau is None or len(command) < len(fields):
            return None
        tried = [(self._told(self.q, self.qd, command, d), d) for d in range(MOST_DELAY + 1)]
        return min(tried, key=lambda pair: _typical(pair[0] - self.tau))

    def _told(self, q: np.ndarray, qd: np.ndarray, command: list[np.ndarray], delay: int) -> np.ndarray:
        rows, n = q.shape
        late = [np.r_[np.full((delay, n), np.nan), x[: rows - delay]].ravel() for x in command]
        enable = np.nan_to_num(late[5]).astype(np.int8)
        tiled = Drives._make(np.tile(values, rows) for values in drives(self.robot, self.run.dt))
        active = drive_torque(q.ravel(), qd.ravel(), late[0], late[1], late[2], late[3], late[4], enable, tiled)[1]
        active[~np.isfinite(late[0] + q.ravel())] = np.nan
        return active.reshape(rows, n)

    @cached_property
    def dead(self) -> np.ndarray | None:
        """1 where a drive is told a tenth of its limit or more and gives next to nothing."""
        if self.told is None or self.tau is None or not self.measured:
            return None
        told = np.abs(self.told[0]) / self.robot.tau_max
        return ((told > 0.1) & (self.torque_share < 0.1 * told) & (self._sound)).astype(float)

    @cached_property
    def _sound(self) -> np.ndarray:
        """Nothing is known of the torque of a predicted joint, nor of samples that repeat."""
        assert self.q is not None and self.qd is not None and self.tau is not None and self.fault is not None
        x = np.concatenate((self.q, self.qd, self.tau), axis=1)
        repeated = np.r_[False, (x[1:] == x[:-1]).all(axis=1)]
        return (np.nan_to_num(self.fault) == 0) & ~repeated[:, None]

    @cached_property
    def undelivered(self) -> np.ndarray | None:
        """Torque told but not given, as a share of the limit; None if the torque is computed from the command."""
        if self.told is None or self.tau is None or not self.measured:
            return None
        return np.abs(self.told[0] - self.tau) / self.robot.tau_max * self._sound


def _typical(error: np.ndarray) -> float:
    """Median size; infinite if nothing is known. A mean would be ruled by a drive that gives nothing."""
    known = np.abs(error[np.isfinite(error)])
    return float(np.median(known)) if len(known) else np.inf
