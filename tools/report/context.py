"""What signals, bounds and words of the rules are made from."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lcmtypes.channels import (
    BODY_STATE,
    CONTACT_PLAN,
    IMU,
    JOINT_COMMAND,
    JOINT_STATE,
    LEG_COMMAND,
    LEG_STATE,
    MODE_STATE,
    PROC_HEALTH,
)
from tools.report.feet import Feet
from tools.report.joints import Joints
from tools.report.log import Run
from tools.report.signals import Signals

CHAIN = (IMU, JOINT_STATE, BODY_STATE, LEG_STATE, CONTACT_PLAN, MODE_STATE, LEG_COMMAND, JOINT_COMMAND)  # every tick
FIRST = 1.5  # s of a mode from which is taken what is usual
TAIL = 0.5  # s at the end of a log in which processes stop one after the other


class Context:
    """All that signals are made from."""

    def __init__(self, run: Run) -> None:
        self.run, self.robot, self.dt, self.t = run, run.robot, run.dt, run.t
        self.signals = Signals(run)
        self.joints = Joints(run)
        self.feet = Feet(run, self.signals)

    @cached_property
    def processes(self) -> list[str]:
        """Names that sent proc_health."""
        return sorted({m.name for _, m in self.run.events(PROC_HEALTH)})

    def names(self, each: str) -> tuple[str, ...]:
        """Names of a signal's columns."""
        return {
            "joint": self.robot.joint_names,
            "leg": self.robot.leg_names,
            "channel": tuple(c.name for c in CHAIN),
            "process": tuple(self.processes),
            "": ("",),
        }[each]

    def mask(self, when: str) -> np.ndarray:
        """Ticks that count."""
        s = self.signals
        if when == "always":
            return np.ones(len(self.t), bool)
        if when == "standing":
            return s.carrying & (s.mode == "stand")
        if when == "walking_on":
            return s.carrying & s.walking
        if when == "real_time":
            lock_step = self.run.field(JOINT_STATE, "lock_step")
            return np.ones(len(self.t), bool) if lock_step is None else np.nan_to_num(lock_step) == 0
        return getattr(s, when)

    def usual(self, x: np.ndarray) -> np.ndarray:
        """What three quarters of the first seconds of each tick's mode stay below (ticks,), the largest of all columns:
        a fault in these seconds must not pass for usual."""
        most = np.nan_to_num(x).max(axis=1) if x.ndim > 1 else np.nan_to_num(x)
        out = np.zeros(len(self.t))
        for mode in set(self.signals.mode):
            inside = self.signals.mode == mode
            first = self.t[inside.argmax()]
            part = inside & (self.t >= first + 0.1) & (self.t < first + FIRST)
            out[inside] = np.percentile(most[part], 75) if part.any() else 0.0
        return out
