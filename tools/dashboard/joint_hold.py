"""What the joint page asks of a joint: the settings, whether it is held, and the message of now. No viser, no clock."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lcmtypes.generated import JointTest, ModeState
from procs.model.robot import Robot
from tools.joint_test.signals import MOST_GAIN, Motion, Settings, gain_limits

MODE = "joint_test"
STEP = 0.01  # rad, of positions
LATE = 0.3  # s between two messages after which the controller has let go by itself
SOFT = 8.0  # a test begins with kp of standing by this, and a quarter of the damping and torque there may be


@dataclass(frozen=True)
class Seen:
    """What is known in one tick."""

    t: float  # s
    connected: bool  # the browser that holds has control, and its joint page is open
    asked: bool  # the mode that browser holds is joint_test
    mode: ModeState | None  # None: nothing fresh is heard
    q: np.ndarray | None  # (num_joints,) rad, measured; None: nothing fresh


def positions(robot: Robot, joint: int) -> tuple[float, float]:
    """rad, from and to: whole steps of the slider inside the limits."""
    lower, upper = float(robot.q_lower[joint]), float(robot.q_upper[joint])
    return round(math.ceil(lower / STEP) * STEP, 6), round(math.floor(upper / STEP) * STEP, 6)


def first_settings(robot: Robot, joint: int, q: np.ndarray | None) -> Settings:
    """Low gains, and the angle where the joint is (None: of the stand pose)."""
    at = float((robot.pose("stand") if q is None else q)[joint])
    lower, upper = positions(robot, joint)
    kp, kd = gain_limits(robot, joint)
    soft = (float(f"{x / SOFT:.1g}") for x in (kp / MOST_GAIN, 2 * kd, 2 * float(robot.tau_max[joint])))
    return Settings(joint, "hold", min(max(round(at, 2), lower), upper), 0.1, 2.0, *soft)


class JointPageState:
    """A joint is held from `hold` until anything is not as it must be; `step` gives the message while it is."""

    def __init__(self, robot: Robot, own: str) -> None:
        """own: the source under which this dashboard commands."""
        self._robot, self._own = robot, own
        self.settings = first_settings(robot, 0, None)  # what the controls show
        self.why = ""  # why the joint was let go
        self._motion: Motion | None = None  # while held; its settings are the last ones without a problem
        self._began = self._last = 0.0  # s
        self._sent = JointTest()

    @property
    def held(self) -> bool:
        """The joint is driven."""
        return self._motion is not None

    @property
    def problems(self) -> list[str]:
        """What is wrong with the controls' settings; while held the last good ones go on."""
        return self.settings.problems(self._robot)

    def tracked(self, t: float) -> tuple[int, float] | None:
        """Joint and kp while it follows what the error is measured against; None on the way there."""
        motion = self._motion
        if motion is None or t - self._began <= motion.approach:
            return None
        return motion.settings.joint, motion.settings.kp

    # -- what a person does -------------------------------------------------------------------------------------------

    def edit(self, settings: Settings) -> None:
        """Other settings. A held joint goes slowly from what it was told last to the new centre."""
        self.settings = settings
        motion = self._motion
        if motion is None:
            return
        if settings.joint != motion.settings.joint:
            self.let_go("another joint was chosen")
        elif not self.problems:
            before = motion.settings
            if replace(before, kp=settings.kp, kd=settings.kd, tau_limit=settings.tau_limit) == settings:
                motion.settings = settings
            else:
                self._motion, self._began = Motion(settings, self._sent.q_des), self._last

    def refusal(self, seen: Seen) -> str:
        """Why the joint cannot be held now; empty if it can."""
        mode = seen.mode
        if not seen.connected:
            return "the page that held it was left, hidden or closed, or gave control back"
        if mode is None:
            return "no controller is heard"
        if not seen.asked:
            return f"{MODE} is not asked for (any more): E-STOP, reset or another mode"
        if mode.mode != MODE:
            return f"the controller is in {mode.mode}" + (f": {mode.reason}" if mode.reason else "")
        if mode.source not in ("", self._own):
            return f"{mode.source} is obeyed, not this dashboard"
        if seen.q is None or len(seen.q) != self._robot.num_joints or not np.isfinite(seen.q).all():
            return "no angles are heard from the plant"
        return ""

    def hold(self, seen: Seen) -> str:
        """Begin from where the joint is; why not, if not."""
        why = self.refusal(seen) or "; ".join(self.problems)
        if not why and seen.q is not None and not self.held:
            j = self.settings.joint
            at = float(np.clip(seen.q[j], self._robot.q_lower[j], self._robot.q_upper[j]))
            self._motion, self._began, self._last, self.why = Motion(self.settings, at), seen.t, seen.t, ""
            self._sent.q_des = at
        return why

    def let_go(self, why: str) -> None:
        """Whatever happens."""
        if self.held:
            self._motion, self.why = None, why

    # -- messages -----------------------------------------------------------------------------------------------------

    def step(self, seen: Seen) -> JointTest | None:
        """The message of now; None when the joint is not held, or is let go because of what is seen."""
        if self._motion is None:
            return None
        gap = seen.t - self._last
        why = self.refusal(seen) or (f"the dashboard was late by {gap:.1f} s" if gap > LATE else "")
        if why:
            self.let_go(why)
        motion = self._motion
        if motion is None:
            return None
        self._last = seen.t
        out, j = motion.message(seen.t - self._began), motion.settings.joint
        out.q_des = float(np.clip(out.q_des, self._robot.q_lower[j], self._robot.q_upper[j]))
        self._sent = out
        return out

    def farewell(self) -> JointTest:
        """What is said once when the joint is let go: the controller need not wait until the last message expires."""
        out, sent = JointTest(), self._sent
        out.joint, out.q_des = sent.joint, sent.q_des
        return out
