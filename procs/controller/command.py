"""The operator's command: age, limits, slews, and what counts as a new request. Speeds in the heading frame."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from config.schema import Control, Gait
from lcmtypes.generated import MotionCommand
from procs.controller.operators import MOST, Operators, Source
from procs.model.robot import Robot

SHOWN = 40  # characters of an unknown name that are repeated


@dataclass
class Wanted:
    """What the body shall do now."""

    velocity: np.ndarray = field(default_factory=lambda: np.zeros(2))  # m/s, heading frame
    goal: np.ndarray = field(default_factory=lambda: np.zeros(2))  # m/s, where velocity is being slewed to
    yaw_rate: float = 0.0  # rad/s
    height: float = 0.0  # m above the contact points
    roll: float = 0.0  # rad
    pitch: float = 0.0  # rad
    gait: str = ""
    request: str = ""  # the mode some operator newly asks for in this tick; empty: nothing new
    age: float = math.inf  # s since the operator that is obeyed said something new
    source: str = ""  # the operator that is obeyed
    complaint: str = ""  # what is wrong with the command

    def still(self) -> bool:
        """No speed is left to slow down from."""
        return float(np.abs(self.velocity).max()) < 0.02 and abs(self.yaw_rate) < 0.05


class CommandFilter:
    """Clamps and slews the motion_command of the operator that is obeyed."""

    def __init__(self, robot: Robot) -> None:
        control = robot.description.control
        self._limits, self._default_gait = control.limits, control.default_gait
        self.tune(control)
        self._dt = robot.dt
        self._operators = Operators(robot)
        self.reset()

    def reset(self) -> None:
        """A new run."""
        self.wanted = Wanted(height=self._height, gait=self._default_gait)
        self._operators.reset()
        self._modes: dict[str, str] = {}  # source -> the mode it holds
        self._ignored = ""

    def tune(self, control: Control) -> None:
        """Other live parameters."""
        self._gaits, self._height = control.gaits, control.nominal_height

    def lost(self) -> bool:
        """No fresh command for so long that walking must end."""
        return self.wanted.age > self._limits.command_lost

    def update(self, command: MotionCommand | None, run: int, moving: bool) -> Wanted:
        """One tick of the plant's `run`; while not `moving` (walking on) the speeds go to zero."""
        w, lim, dt = self.wanted, self._limits, self._dt
        vx = vy = yaw_rate = 0.0
        height, roll, pitch = w.height, w.roll, w.pitch
        new = self._operators.update(command, run)
        chosen, before = self._operators.chosen, w.source
        w.age, w.source = self._operators.age, chosen.name if chosen is not None and self._operators.fresh else ""
        if w.source != before:
            self._ignored = ""
        w.request = self._request(new, chosen)
        if chosen is not None and w.age < math.inf:
            asked = chosen.command
            self._choose_gait(asked.gait)
            height, roll, pitch = asked.height or self._height, asked.roll, asked.pitch
            if moving and not asked.height:
                height = self._gaits[w.gait].height or self._height
            if moving and self._operators.fresh and not chosen.overruled:
                vx, vy, yaw_rate = asked.vx, asked.vy, asked.yaw_rate
        gait: Gait = self._gaits[w.gait]
        w.goal = np.array([_clamp(vx, gait.vx or lim.vx), _clamp(vy, lim.vy)])
        change = w.goal - w.velocity
        size = float(np.hypot(change[0], change[1]))
        w.velocity = w.velocity + change * min(1.0, lim.accel * dt / size) if size > 1e-9 else w.goal
        w.yaw_rate = _slew(w.yaw_rate, _clamp(yaw_rate, lim.yaw_rate), lim.yaw_accel * dt)
        w.height = _slew(w.height, _clamp(height, lim.height), lim.height_rate * dt)
        w.roll = _slew(w.roll, _clamp(roll, lim.roll), lim.attitude_rate * dt)
        w.pitch = _slew(w.pitch, _clamp(pitch, lim.pitch), lim.attitude_rate * dt)
        return w

    def _request(self, new: Source | None, chosen: Source | None) -> str:
        """The mode if its source did not hold it before: a target is held by each operator for himself.

        Who is not obeyed is told so.
        """
        if new is not None and not new.command.mode:
            self._modes.pop(new.name, None)  # it asks for nothing: what it asks for next is new, also the same again
        if new is None or not new.command.mode or self._modes.get(new.name) == new.command.mode:
            return ""
        if new.name not in self._modes and len(self._modes) >= MOST:
            del self._modes[next(iter(self._modes))]
        self._modes[new.name] = new.command.mode
        if new is chosen or chosen is None:
            self._ignored = ""
            return new.command.mode
        self._ignored = f"{new.name[:SHOWN]} is not obeyed: {chosen.name[:SHOWN]} is in control"
        return ""

    def _choose_gait(self, name: str) -> None:
        if name in self._gaits:
            self.wanted.gait = name
        known = not name or name in self._gaits
        unknown = "" if known else f"no gait {name[:SHOWN]!r}; there are {', '.join(self._gaits)}"
        self.wanted.complaint = unknown or self._ignored


def _clamp(value: float, limits: tuple[float, float]) -> float:
    return min(max(value, limits[0]), limits[1])


def _slew(value: float, goal: float, step: float) -> float:
    return value + _clamp(goal - value, (-step, step))
