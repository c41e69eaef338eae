"""Tracking error |q_wanted - q| of tested joints: mean and standard deviation by joint and by class of joint.

Taken where the drive held the joint with full gains: on the approach and while gains ramp there is nothing to track.
"""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lcmtypes.generated import JointCommand, JointState
from procs.model.robot import Robot


@dataclass(frozen=True)
class Error:
    """rad; `count` ticks."""

    mean: float
    sigma: float
    most: float
    count: int


class Tracking:
    """Collects wanted and measured angles of the joint under test, tick by tick."""

    def __init__(self, robot: Robot) -> None:
        self._names, self._dt = robot.joint_names, robot.dt
        self._errors: dict[int, list[float]] = {}
        self._command: JointCommand | None = None

    def command(self, message: JointCommand) -> None:
        """What the drives were told."""
        self._command = message

    def state(self, message: JointState, joint: int, kp: float) -> None:
        """What the joints did; counts if `joint` was held with at least 99 % of kp by a command of about that tick.

        A command acts from the tick after its own: what was wanted at the sample is led there by the wanted speed.
        """
        told = self._command
        if told is None or told.run != message.run or not 0 <= (late := message.seq - told.seq) <= 2:
            return
        if told.enable[joint] and told.kp[joint] >= 0.99 * kp > 0:
            wanted = float(told.q_des[joint] + (late - 1) * self._dt * told.qd_des[joint])
            self._errors.setdefault(joint, []).append(abs(wanted - float(message.q[joint])))

    def clear(self) -> None:
        """Forget what was measured."""
        self._errors.clear()

    def by_joint(self) -> dict[str, Error]:
        """Tested joints by name."""
        return {self._names[j]: _error(values) for j, values in sorted(self._errors.items())}

    def by_class(self) -> dict[str, Error]:
        """Joints of one name (abad, hip, knee) together."""
        groups: dict[str, list[float]] = {}
        for j, values in sorted(self._errors.items()):
            groups.setdefault(self._names[j].split(".")[-1], []).extend(values)
        return {name: _error(values) for name, values in groups.items()}


def _error(values: list[float]) -> Error:
    a = np.array(values)
    return Error(float(a.mean()), float(a.std()), float(a.max()), len(a))


def write_csv(path: Path, tracking: Tracking) -> None:
    """The errors of joints, then of classes; OSError if it cannot be written."""
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("joint", "mean_rad", "sigma_rad", "max_rad", "ticks"))
        for name, e in {**tracking.by_joint(), **tracking.by_class()}.items():
            writer.writerow((name, repr(e.mean), repr(e.sigma), repr(e.most), e.count))
