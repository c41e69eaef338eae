"""What must hold for a mode: guards before a transition, faults that lead to damping."""

from __future__ import annotations

import math

import numpy as np

from lcmtypes.generated import BodyState, LegState, MotionCommand
from procs.controller.modes import DRIVEN, UPRIGHT
from procs.model.robot import Robot
from procs.model.rotations import quat_to_matrix

INVALID_TIME = 0.1  # s an invalid body state or an unsolved MPC is borne
CARRY = 0.5  # contact probability above which a foot counts as carrying
CARRYING_FEET = 0.7  # of all feet that must carry before the robot walks
PLAUSIBLE = 1e5  # beyond any quantity of a state: nonsense that would overflow what follows
AT_REST = ("idle", "ready", "damping")  # left only with sound sensors; in the others `fault` bears a bad moment
# Reasons of the estimator for which sensors are well all the same: stand and joint test go on, walk does not.
BEARABLE = ("suspended", "velocity uncertain")


def plausible(message: BodyState | LegState) -> bool:
    """True if every number is of a size that a robot can have (what is not finite compares as false)."""
    return float(np.abs(message.block).max()) < PLAUSIBLE


def asks_motion(command: MotionCommand | None) -> bool:
    """True while an operator asks for speed: a reset then releases nothing (the plant's rule too)."""
    return command is not None and command.mode == "walk" and any((command.vx, command.vy, command.yaw_rate))


class Guards:
    """Fresh and sane inputs, tilt, joint limits, and whether the feet carry the robot."""

    def __init__(self, robot: Robot) -> None:
        self._robot = robot
        control, safety = robot.description.control, robot.description.safety
        self._cos_tilt = math.cos(control.limits.tilt)
        self._settle = control.modes.settle
        self._rights_itself = control.recover is not None
        self._gap = safety.watchdog
        self._lower = robot.q_lower - safety.joint_margin
        self._upper = robot.q_upper + safety.joint_margin
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self.legs: LegState | None = None  # of this tick, if they can be relied on
        self.body: BodyState | None = None  # likewise
        self.upright = False
        self._before: tuple[int, int] | None = None  # seq and utime of the last tick
        self._late = 0.0  # s since the last tick
        self._ill = 0.0  # s for which nothing can be said of the body
        self._invalid = 0.0  # s for which walking cannot rely on it
        self._unsolved = 0.0  # s
        self._carried = 0.0  # s for which the feet have carried the robot

    def look(self, body: BodyState | None, legs: LegState) -> None:
        """Take this tick's inputs; `legs` and `body` hold what may be used of them."""
        robot, dt = self._robot, self._robot.dt
        sized = legs.num_legs == robot.num_legs and legs.num_joints == robot.num_joints
        self.legs = legs if sized and plausible(legs) else None
        self._late = 0.0
        if self._before is not None:
            seq, utime = legs.seq - self._before[0], 1e-6 * (legs.utime - self._before[1])
            self._late = max(seq * dt, utime if utime >= 0 else math.inf)
        self._before = legs.seq, legs.utime
        fresh = body is not None and abs(legs.seq - body.seq) * dt < self._gap
        body = self.body = body if body is not None and fresh and self._sane(body) else None
        well = body is not None and (bool(body.valid) or body.reason.startswith(BEARABLE))
        self._ill = 0.0 if well else self._ill + dt
        self._invalid = 0.0 if body is not None and body.valid else self._invalid + dt
        self.upright = body is not None and bool(quat_to_matrix(body.quat)[2, 2] >= self._cos_tilt)
        carried = body is not None and float(np.mean(body.contact > CARRY)) > CARRYING_FEET
        self._carried = min(1.0, self._carried + dt) if carried else max(0.0, self._carried - 10 * dt)

    def _sane(self, body: BodyState) -> bool:
        unit = abs(float(body.quat @ body.quat) - 1.0) < 0.05
        return body.num_legs == self._robot.num_legs and plausible(body) and unit

    def solved(self, status: str) -> None:
        """How the last MPC ended."""
        every = self._robot.description.control.mpc.every
        self._unsolved = 0.0 if status == "solved" else self._unsolved + every * self._robot.dt

    def fault(self, mode: str) -> str:
        """Why the robot must go to damping now; empty if it need not."""
        if mode not in DRIVEN:
            self._unsolved = 0.0
            return ""
        if self.legs is None:
            return "leg_state is not of this robot or not plausible"
        if self._late > self._gap:
            return f"no leg_state for {1e3 * self._late:.0f} ms" if self._late < math.inf else "time runs backwards"
        beyond = (self.legs.q < self._lower) | (self.legs.q > self._upper)
        if beyond.any():
            k = int(beyond.argmax())
            return f"joint {self._robot.joint_names[k]} at {self.legs.q[k]:.2f} rad beyond its limit and margin"
        if self._ill > INVALID_TIME or (mode == "walk" and (self.body is None or self._invalid > INVALID_TIME)):
            return f"body state not valid: {self._why()}"
        if mode in UPRIGHT and self.body is not None and not self.upright:
            roll, pitch = np.degrees(self.body.rpy[:2])
            return f"fall: roll {roll:.0f} deg, pitch {pitch:.0f} deg"
        if mode == "walk" and self._unsolved > INVALID_TIME:
            return f"MPC without a solution for {1e3 * self._unsolved:.0f} ms"
        return ""

    def refusal(self, mode: str, following: str, passed: float) -> str:
        """Why `following` may not be entered `passed` s after `mode` was: a reason, `wait`, or empty."""
        if following in ("idle", "shutdown") or mode == "joint_test":
            return ""
        if mode in AT_REST and (self.legs is None or self._ill > 0):
            return "wait" if mode == "idle" else f"body state not valid: {self._why()}"
        if following != "ready" and passed < self._settle:
            return "wait"
        if mode in ("ready", "recover") and following in UPRIGHT and not self.upright:
            return "not upright, recover first"
        if following == "recover" and not self._rights_itself:
            return "this robot has no poses to right itself"
        if following == "walk":
            if self._invalid > 0:
                return f"body state not valid: {self._why()}"
            if self._carried < self._settle:
                return "the feet do not carry the robot"
        return ""

    def _why(self) -> str:
        return self.body.reason if self.body is not None else "no fresh and plausible message"
